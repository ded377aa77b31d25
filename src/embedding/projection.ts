import { STATE } from "./embedder.ts";
import type { ModelManifest } from "./manifest.ts";
import fitted from "./projection.json" with { type: "json" };

/** Turns a token's state into fewer numbers, which keep what sets it apart. */
export interface Projection {
  /** Of how many numbers a state is. */
  readonly dimension: number;
  /** `STATE` numbers for each of a state's. */
  readonly matrix: Float32Array;
  /** What is taken away from the result. */
  readonly offsets: Float32Array;
}

/** The projection that was fitted to a model's graph (see `test/eval/projection.ts`); null for others. */
export function projectionOf({ files, graph }: ModelManifest): Projection | null {
  if (files.find(({ name }) => name === graph)?.sha256 !== fitted.graph) return null;
  const numbers = new Int8Array(Buffer.from(fitted.matrix, "base64"));
  return {
    dimension: fitted.dimension,
    matrix: Float32Array.from(numbers, (number, at) => number * (fitted.scales[at % STATE] ?? 0)),
    offsets: Float32Array.from(fitted.offsets),
  };
}

/** The length of a projected state. */
const LENGTH = 127;

/**
 * Projects states and makes their lengths the same.
 * @param states one after the other
 * @param places which of them
 * @returns `STATE` bytes for each
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
    const factor = LENGTH / (Math.sqrt(squares) || 1);
    for (let to = 0; to < STATE; to++) {
      projected[index * STATE + to] = Math.round((sums[to] ?? 0) * factor);
    }
  }
  return projected;
}
