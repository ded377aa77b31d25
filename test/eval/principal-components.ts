type Numbers = Float64Array<ArrayBuffer>;

/** Rounds of the power method; the components of token states stand still after fewer. */
const ROUNDS = 200;

/**
 * The directions in which vectors differ most from their mean, the strongest first, at right angles
 * and of length 1: by orthogonal iteration on their covariance.
 */
export function principalComponents(
  vectors: readonly Float32Array[],
  count: number,
): { mean: Float64Array; components: Float64Array[] } {
  const dimension = vectors[0]?.length ?? 0;
  const mean = new Float64Array(dimension);
  for (const vector of vectors) {
    for (let at = 0; at < dimension; at++) {
      mean[at] = (mean[at] ?? 0) + (vector[at] ?? 0) / vectors.length;
    }
  }
  const covariance = covarianceOf(vectors, mean);
  let components = Array.from({ length: count }, (_, nth) =>
    // Any start will do that is not at right angles to what is looked for.
    Float64Array.from({ length: dimension }, (_, at) => Math.sin(1 + 37.7 * nth + 1.3 * at * nth)),
  );
  for (let round = 0; round < ROUNDS; round++) {
    components = orthonormal(
      components.map((component) =>
        Float64Array.from({ length: dimension }, (_, row) =>
          dot(covariance.subarray(row * dimension, (row + 1) * dimension), component),
        ),
      ),
    );
  }
  return { mean, components };
}

function covarianceOf(vectors: readonly Float32Array[], mean: Float64Array): Float64Array {
  const dimension = mean.length;
  const sums = new Float64Array(dimension ** 2);
  for (const vector of vectors) {
    const centred = mean.map((value, at) => (vector[at] ?? 0) - value);
    for (let row = 0; row < dimension; row++) {
      const [factor, start] = [centred[row] ?? 0, row * dimension];
      for (let at = 0; at < dimension; at++) {
        sums[start + at] = (sums[start + at] ?? 0) + factor * (centred[at] ?? 0);
      }
    }
  }
  return sums;
}

/** Gram and Schmidt. */
function orthonormal(vectors: readonly Numbers[]): Numbers[] {
  const done: Numbers[] = [];
  for (const vector of vectors) {
    let rest = vector;
    for (const other of done) {
      const product = dot(rest, other);
      rest = rest.map((value, at) => value - product * (other[at] ?? 0));
    }
    const length = Math.sqrt(dot(rest, rest));
    done.push(rest.map((value) => value / length));
  }
  return done;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
