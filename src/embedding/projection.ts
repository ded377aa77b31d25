import { STATE } from "./embedder.ts";
import type { ModelManifest } from "./manifest.ts";
import fitted from "./projection.json" with { type: "json" };

/** Projects a token's state to fewer numbers that still distinguish it from others. */
interface Projection {
  /** Length of an unprojected state. */
  readonly dimension: number;
  /** `STATE` numbers for each number of a state. */
  readonly matrix: Float32Array;
  /** Subtracted from the result. */
  readonly offsets: Float32Array;
}

/** The projection that was fitted to a model's graph (see `test/eval/projection.ts`); null for other models. */
export function projectionOf({ files, graph }: ModelManifest): Projection | null {
  if (files.find(({ name }) => name === graph)?.sha256 !== fitted.graph) return null;
  const numbers = new Int8Array(Buffer.from(fitted.matrix, "base64"));
  return {
    dimension: fitted.dimension,
    matrix: Float32Array.from(numbers, (number, at) => number * (fitted.scales[at % STATE] ?? 0)),
    offsets: Float32Array.from(fitted.offsets),
  };
}

/** The Euclidean norm of a projected state. */
const NORM = 127;

/**
 * Projects states and normalizes them.
 * @param states all states, concatenated
 * @param places indexes of the states to project
 * @returns `STATE` bytes for each of them
 */
export function projectStates(
  states: Float32Array,
  places: readonly number[],
  { dimension, matrix, offsets }: Projection,
): Int8Array {
  const projected = new Int8Array(places.length * STATE);
  const sums = new Float32Array(STATE);
  for (const [index, place] of places.entries()) {
    sums.fill(0);
    for (let at = 0; at < dimension; at++) {
      const value = states[place * dimension + at] ?? 0;
      for (let to = 0, row = at * STATE; to < STATE; to++) {
        sums[to] = (sums[to] ?? 0) + value * (matrix[row + to] ?? 0);
      }
    }
    let squares = 0;
    for (let to = 0; to < STATE; to++) {
      sums[to] = (sums[to] ?? 0) - (offsets[to] ?? 0);
      squares += (sums[to] ?? 0) ** 2;
    }
    const factor = NORM / (Math.sqrt(squares) || 1);
    for (let to = 0; to < STATE; to++) {
      projected[index * STATE + to] = Math.round((sums[to] ?? 0) * factor);
    }
  }
  return projected;
}
