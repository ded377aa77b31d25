import { STATE } from "./embedder.ts";
import type { ModelManifest } from "./manifest.ts";

/** Reads a token's state: fewer numbers that keep what sets it apart. */
export interface Projection {
  /** Of how many numbers the states are. */
  readonly dimension: number;
  /** What is taken away from each state first. */
  readonly mean: Float32Array;
  /** `STATE` numbers for each of a state's. */
  readonly matrix: Float32Array;
}

/** The projection of a model's states. */
export function projectionOf(_: Pick<ModelManifest, "id">, dimension: number): Projection {
  return { dimension, mean: new Float32Array(dimension), matrix: randomRows(dimension) };
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
  { dimension, mean, matrix }: Projection,
): Int8Array {
  const projected = new Int8Array(places.length * STATE);
  const sums = new Float32Array(STATE);
  for (const [index, place] of places.entries()) {
    sums.fill(0);
    for (let at = 0; at < dimension; at++) {
      const value = (states[place * dimension + at] ?? 0) - (mean[at] ?? 0);
      for (let to = 0, row = at * STATE; to < STATE; to++) {
        sums[to] = (sums[to] ?? 0) + value * (matrix[row + to] ?? 0);
      }
    }
    let squares = 0;
    for (let to = 0; to < STATE; to++) squares += (sums[to] ?? 0) ** 2;
    const factor = LENGTH / (Math.sqrt(squares) || 1);
    for (let to = 0; to < STATE; to++) {
      projected[index * STATE + to] = Math.round((sums[to] ?? 0) * factor);
    }
  }
  return projected;
}

/** `STATE` directions at right angles, always the same. */
function randomRows(dimension: number): Float32Array {
  const random = createNormal();
  const columns: Float32Array[] = [];
  for (let to = 0; to < Math.min(STATE, dimension); to++) {
    const column = Float32Array.from({ length: dimension }, random);
    for (const other of columns) {
      const product = dot(column, other);
      for (let at = 0; at < dimension; at++)
        column[at] = (column[at] ?? 0) - product * (other[at] ?? 0);
    }
    const length = Math.sqrt(dot(column, column));
    columns.push(column.map((value) => value / length));
  }
  const matrix = new Float32Array(dimension * STATE);
  for (const [to, column] of columns.entries()) {
    for (let at = 0; at < dimension; at++) matrix[at * STATE + to] = column[at] ?? 0;
  }
  return matrix;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

/** Normally distributed numbers (Box and Muller) of Marsaglia's xorshift over 32 bits. */
function createNormal(): () => number {
  let state = 0x9e3779b9;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
}
