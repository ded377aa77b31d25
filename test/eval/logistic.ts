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

function scaleOf(examples: readonly Example[], at: number): { mean: number; spread: number } {
  const values = examples.map(({ features }) => features[at] ?? 0);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, spread: Math.sqrt(variance) || 1 };
}
