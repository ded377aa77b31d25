/** An example with how much it counts. */
export interface Example {
  features: readonly number[];
  isTrue: boolean;
  weight: number;
}

export interface Fitted {
  base: number;
  weights: number[];
}

const STEPS = 800;
const RATE = 2;
const NEWTON_STEPS = 25;

/**
 * Fits a logistic regression by gradient descent on standardised features.
 * @param penalty of large weights (L2)
 */
export function fitLogistic(examples: readonly Example[], penalty = 0.001): Fitted {
  const width = examples[0]?.features.length ?? 0;
  const columns = Array.from({ length: width }, (_, at) => scaleOf(examples, at));
  const scaled = examples.map(({ features }) =>
    Float64Array.from(columns, ({ mean, spread }, at) => ((features[at] ?? 0) - mean) / spread),
  );
  const total = examples.reduce((sum, { weight }) => sum + weight, 0);
  const weights = new Float64Array(width);
  let base = 0;
  for (let step = 0; step < STEPS; step++) {
    const slope = new Float64Array(width);
    let baseSlope = 0;
    for (const [row, { isTrue, weight }] of examples.entries()) {
      const values = scaled[row] ?? new Float64Array(width);
      let sum = base;
      for (let at = 0; at < width; at++) sum += (weights[at] ?? 0) * (values[at] ?? 0);
      const miss = (weight * (1 / (1 + Math.exp(-sum)) - (isTrue ? 1 : 0))) / total;
      baseSlope += miss;
      for (let at = 0; at < width; at++) slope[at] = (slope[at] ?? 0) + miss * (values[at] ?? 0);
    }
    base -= RATE * baseSlope;
    for (let at = 0; at < width; at++) {
      const own = weights[at] ?? 0;
      weights[at] = own - RATE * ((slope[at] ?? 0) + penalty * own);
    }
  }
  const unscaled = columns.map(({ spread }, at) => (weights[at] ?? 0) / spread);
  const shift = columns.reduce((sum, { mean }, at) => sum + mean * (unscaled[at] ?? 0), 0);
  return { base: base - shift, weights: unscaled };
}

/** Adds what one example contributes to the slope and the curvature of the loss. @param row its features, after a 1 */
function addExample(
  { isTrue, weight }: Example,
  row: Float64Array,
  { weights, slope, curve, total }: NewtonStep,
): void {
  const size = weights.length;
  let sum = 0;
  for (let k = 0; k < size; k++) sum += (weights[k] ?? 0) * (row[k] ?? 0);
  const chance = 1 / (1 + Math.exp(-sum));
  const miss = (weight * (chance - (isTrue ? 1 : 0))) / total;
  const bend = (weight * chance * (1 - chance)) / total;
  for (let k = 0; k < size; k++) {
    const value = row[k] ?? 0;
    slope[k] = (slope[k] ?? 0) + miss * value;
    const line = curve[k] ?? new Float64Array(size);
    for (let l = 0; l < size; l++) line[l] = (line[l] ?? 0) + bend * value * (row[l] ?? 0);
  }
}

interface NewtonStep {
  weights: Float64Array;
  slope: Float64Array;
  curve: readonly Float64Array[];
  /** The weights of all examples together. */
  total: number;
}

/** Fits by Newton's method, which needs few steps and is slow for many features. */
export function fitNewton(examples: readonly Example[], penalty = 0.001): Fitted {
  const width = examples[0]?.features.length ?? 0;
  const columns = Array.from({ length: width }, (_, at) => scaleOf(examples, at));
  const rows = examples.map(({ features }) =>
    Float64Array.from([
      1,
      ...columns.map(({ mean, spread }, at) => ((features[at] ?? 0) - mean) / spread),
    ]),
  );
  const total = examples.reduce((sum, { weight }) => sum + weight, 0);
  const size = width + 1;
  const weights = new Float64Array(size);
  for (let step = 0; step < NEWTON_STEPS; step++) {
    const slope = Float64Array.from(weights, (own, at) => (at === 0 ? 0 : penalty * own));
    const curve = Array.from({ length: size }, (_, row) => {
      const line = new Float64Array(size);
      line[row] = row === 0 ? 0 : penalty;
      return line;
    });
    for (const [at, example] of examples.entries()) {
      addExample(example, rows[at] ?? new Float64Array(size), { weights, slope, curve, total });
    }
    for (const [k, change] of solve(curve, slope).entries())
      weights[k] = (weights[k] ?? 0) - change;
  }
  const unscaled = columns.map(({ spread }, at) => (weights[at + 1] ?? 0) / spread);
  const shift = columns.reduce((sum, { mean }, at) => sum + mean * (unscaled[at] ?? 0), 0);
  return { base: (weights[0] ?? 0) - shift, weights: unscaled };
}

/** Solves linear equations by Gaussian elimination. */
function solve(matrix: readonly Float64Array[], right: Float64Array): number[] {
  const size = right.length;
  const rows = matrix.map((row, at) => Float64Array.from([...row, right[at] ?? 0]));
  for (let pivot = 0; pivot < size; pivot++) {
    const own = rows[pivot] ?? new Float64Array(size + 1);
    for (const [at, row] of rows.entries()) {
      if (at === pivot) continue;
      const factor = (row[pivot] ?? 0) / (own[pivot] || 1e-12);
      for (let k = pivot; k <= size; k++) row[k] = (row[k] ?? 0) - factor * (own[k] ?? 0);
    }
  }
  return rows.map((row, at) => (row[size] ?? 0) / (row[at] || 1e-12));
}

function scaleOf(examples: readonly Example[], at: number): { mean: number; spread: number } {
  const values = examples.map(({ features }) => features[at] ?? 0);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, spread: Math.sqrt(variance) || 1 };
}
