/** Rounds of the power method, after which the strongest components of real memories no longer change. */
const ROUNDS = 60;

/** What vectors have in common, and the directions in which they differ. */
interface Components {
  mean: Float64Array;
  /** At right angles and of length 1; of length 0 where vectors differ in fewer directions. */
  directions: Float64Array[];
}

/**
 * The directions in which vectors differ most from their mean, the strongest first: a principal component
 * analysis by orthogonal iteration on the covariance. The same vectors always give the same numbers.
 * @param vectors one after the other
 * @param rounds of the iteration: more of them tell weak directions apart
 */
export function principalComponents(
  vectors: Float32Array,
  dimension: number,
  count: number,
  rounds = ROUNDS,
): Components {
  const mean = new Float64Array(dimension);
  const share = dimension / vectors.length;
  for (let at = 0; at < vectors.length; at++) {
    const column = at % dimension;
    mean[column] = (mean[column] ?? 0) + (vectors[at] ?? 0) * share;
  }
  const covariance = covarianceOf(vectors, mean);
  let directions = Array.from({ length: count }, (_, nth) =>
    // Any start will do that is not at right angles to what is looked for.
    Float64Array.from({ length: dimension }, (_, at) => Math.sin(1 + 37.7 * nth + 1.3 * at * nth)),
  );
  for (let round = 0; round < rounds; round++) {
    directions = orthonormal(directions.map((direction) => times(covariance, direction)));
  }
  return { mean, directions };
}

/** Where vectors lie along some directions: as many numbers for each vector. */
export function along(vectors: Float32Array, { mean, directions }: Components): Float32Array {
  const rows = vectors.length / mean.length;
  const count = directions.length;
  const numbers = new Float32Array(rows * count);
  for (const [nth, direction] of directions.entries()) {
    const middle = dot(mean, 0, direction);
    for (let row = 0; row < rows; row++) {
      numbers[row * count + nth] = dot(vectors, row * mean.length, direction) - middle;
    }
  }
  return numbers;
}

/** The sums of products, which differ from the covariance by a factor alone. */
function covarianceOf(vectors: Float32Array, mean: Float64Array): Float64Array {
  const dimension = mean.length;
  const sums = new Float64Array(dimension ** 2);
  const centred = new Float64Array(dimension);
  for (let from = 0; from < vectors.length; from += dimension) {
    for (let at = 0; at < dimension; at++)
      centred[at] = (vectors[from + at] ?? 0) - (mean[at] ?? 0);
    for (let row = 0; row < dimension; row++) {
      const factor = centred[row] ?? 0;
      const start = row * dimension;
      for (let at = row; at < dimension; at++) {
        sums[start + at] = (sums[start + at] ?? 0) + factor * (centred[at] ?? 0);
      }
    }
  }
  for (let row = 0; row < dimension; row++) {
    for (let at = 0; at < row; at++) {
      sums[row * dimension + at] = sums[at * dimension + row] ?? 0;
    }
  }
  return sums;
}

function times(matrix: Float64Array, vector: Float64Array): Float64Array<ArrayBuffer> {
  return new Float64Array(vector).map((_, row) => dot(matrix, row * vector.length, vector));
}

/** Gram–Schmidt. A vector that depends linearly on those before it becomes zero. */
function orthonormal(vectors: readonly Float64Array<ArrayBuffer>[]): Float64Array<ArrayBuffer>[] {
  const done: Float64Array<ArrayBuffer>[] = [];
  for (const vector of vectors) {
    const before = dot(vector, 0, vector);
    for (const other of done) {
      const product = dot(vector, 0, other);
      for (let at = 0; at < vector.length; at++) {
        vector[at] = (vector[at] ?? 0) - product * (other[at] ?? 0);
      }
    }
    const square = dot(vector, 0, vector);
    const factor = square > 1e-18 * before ? 1 / Math.sqrt(square) : 0;
    done.push(vector.map((value) => value * factor));
  }
  return done;
}

/** The product of a vector with the numbers of others from a place on. */
function dot(numbers: Float32Array | Float64Array, from: number, vector: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at++) sum += (numbers[from + at] ?? 0) * (vector[at] ?? 0);
  return sum;
}
