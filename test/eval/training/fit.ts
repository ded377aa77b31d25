import type { Example } from "./examples.ts";

/** Examples, and what each counts. */
export interface Lesson {
  examples: readonly Example[];
  /** What all its examples together count. */
  weight: number;
}

const MOST_STEPS = 30;

/**
 * Learns what each signal counts, so that the memories that answer a question come before the others: the
 * softmax over a question's memories should be shared by those that answer it (ListNet: Cao et al., 2007).
 * The sum of squares of the weights, of signals of deviation 1, is kept small. By Newton's method.
 * @param columns how many signals there are
 */
export function fit(lessons: readonly Lesson[], columns: number, penalty: number): Float64Array {
  const scale = deviations(lessons, columns);
  const losses = (weights: Float64Array) => loss(lessons, weights, scale, penalty);
  let weights = new Float64Array(columns);
  let current = losses(weights);
  for (let step = 0; step < MOST_STEPS; step++) {
    const direction = solve(current.curvature, current.gradient);
    let share = 1;
    let next = current;
    let tried = weights;
    for (; share > 1e-4; share /= 2) {
      tried = weights.map((weight, at) => weight - share * (direction[at] ?? 0));
      next = losses(tried);
      if (next.value <= current.value) break;
    }
    const gain = current.value - next.value;
    [weights, current] = [tried, next];
    if (gain < 1e-7 * current.value) break;
  }
  return weights.map((weight, at) => weight / (scale[at] ?? 1));
}

/** How far each signal lies from its mean, usually. */
function deviations(lessons: readonly Lesson[], columns: number): Float64Array {
  const sums = new Float64Array(columns);
  const squares = new Float64Array(columns);
  let rows = 0;
  for (const { signals } of lessons.flatMap(({ examples }) => examples)) {
    rows += signals.length / columns;
    for (let at = 0; at < signals.length; at++) {
      const value = signals[at] ?? 0;
      sums[at % columns] = (sums[at % columns] ?? 0) + value;
      squares[at % columns] = (squares[at % columns] ?? 0) + value * value;
    }
  }
  return sums.map((sum, at) => {
    const mean = sum / rows;
    return Math.sqrt(Math.max(0, (squares[at] ?? 0) / rows - mean * mean)) + 1e-6;
  });
}

interface Loss {
  value: number;
  gradient: Float64Array;
  /** Row by row. */
  curvature: Float64Array;
}

function loss(
  lessons: readonly Lesson[],
  weights: Float64Array,
  scale: Float64Array,
  penalty: number,
): Loss {
  const columns = weights.length;
  const gradient = weights.map((weight) => penalty * weight);
  const curvature = new Float64Array(columns * columns);
  for (let at = 0; at < columns; at++) curvature[at * (columns + 1)] = penalty;
  let value = (penalty / 2) * weights.reduce((sum, weight) => sum + weight * weight, 0);
  const mean = new Float64Array(columns);
  const row = new Float64Array(columns);
  for (const { examples, weight } of lessons) {
    const share = weight / examples.length;
    for (const { signals, answers } of examples) {
      const right = answers.reduce((sum, one) => sum + one, 0);
      if (right === 0 || right === answers.length) continue;
      const sums = Float64Array.from(answers, (_, at) => {
        let sum = 0;
        for (let column = 0; column < columns; column++) {
          sum +=
            ((signals[at * columns + column] ?? 0) / (scale[column] ?? 1)) * (weights[column] ?? 0);
        }
        return sum;
      });
      const highest = Math.max(...sums);
      const shares = sums.map((sum) => Math.exp(sum - highest));
      const total = shares.reduce((sum, one) => sum + one, 0);
      mean.fill(0);
      for (const [at, sum] of sums.entries()) {
        const chance = (shares[at] ?? 0) / total;
        const wanted = (answers[at] ?? 0) / right;
        value -= share * wanted * (sum - highest - Math.log(total));
        for (let column = 0; column < columns; column++) {
          const signal = (signals[at * columns + column] ?? 0) / (scale[column] ?? 1);
          row[column] = signal;
          mean[column] = (mean[column] ?? 0) + chance * signal;
          gradient[column] = (gradient[column] ?? 0) + share * (chance - wanted) * signal;
        }
        addSquare(curvature, row, share * chance);
      }
      addSquare(curvature, mean, -share);
    }
  }
  return { value, gradient, curvature };
}

/** Adds the product of a row with itself. */
function addSquare(matrix: Float64Array, row: Float64Array, factor: number): void {
  const { length } = row;
  for (let a = 0; a < length; a++) {
    const part = factor * (row[a] ?? 0);
    if (part === 0) continue;
    for (let b = 0; b < length; b++) {
      matrix[a * length + b] = (matrix[a * length + b] ?? 0) + part * (row[b] ?? 0);
    }
  }
}

/** Solves a system of linear equations whose matrix is positive definite. */
function solve(matrix: Float64Array, right: Float64Array): Float64Array {
  const { length } = right;
  const rows = Array.from({ length }, (_, at) => [
    ...matrix.subarray(at * length, (at + 1) * length),
    right[at] ?? 0,
  ]);
  for (const [at, pivot] of rows.entries()) {
    for (const [below, row] of rows.entries()) {
      if (below === at) continue;
      const factor = (row[at] ?? 0) / (pivot[at] ?? 1);
      if (factor === 0) continue;
      for (let column = at; column <= length; column++) {
        row[column] = (row[column] ?? 0) - factor * (pivot[column] ?? 0);
      }
    }
  }
  return Float64Array.from(rows, (row, at) => (row[length] ?? 0) / (row[at] ?? 1));
}

/**
 * Learns by logistic regression how the sum of a question's best memory becomes the log-odds that it
 * answers: what it is multiplied with, and what is added.
 */
export function calibrate(lessons: readonly Lesson[], weights: Float64Array): [number, number] {
  const pairs = lessons.flatMap(({ examples, weight }) =>
    examples.map((example) => ({
      ...bestOf(example, weights),
      share: weight / examples.length,
    })),
  );
  const losses = (factor: number, start: number) => {
    const gradient = new Float64Array(2);
    const curvature = Float64Array.of(1e-6, 0, 0, 1e-6);
    let value = 0;
    for (const { sum, answer, share } of pairs) {
      const odds = factor * sum + start;
      const chance = 1 / (1 + Math.exp(-odds));
      value += share * (Math.log1p(Math.exp(-Math.abs(odds))) + Math.max(0, odds) - answer * odds);
      const row = Float64Array.of(sum, 1);
      for (const at of [0, 1]) {
        gradient[at] = (gradient[at] ?? 0) + share * (chance - answer) * (row[at] ?? 0);
      }
      addSquare(curvature, row, share * chance * (1 - chance));
    }
    return { value, gradient, curvature };
  };
  let [factor, start] = [0, 0];
  for (let step = 0; step < MOST_STEPS; step++) {
    const { value, gradient, curvature } = losses(factor, start);
    const [a = 0, b = 0] = solve(curvature, gradient);
    let share = 1;
    while (share > 1e-6 && losses(factor - share * a, start - share * b).value > value) share /= 2;
    [factor, start] = [factor - share * a, start - share * b];
  }
  return [factor, start];
}

function bestOf({ signals, answers }: Example, weights: Float64Array) {
  const columns = weights.length;
  let best = { sum: Number.NEGATIVE_INFINITY, answer: 0 };
  for (const [at, answer] of answers.entries()) {
    const row = signals.subarray(at * columns, (at + 1) * columns);
    const sum = row.reduce((sum, signal, column) => sum + signal * (weights[column] ?? 0), 0);
    if (sum > best.sum) best = { sum, answer };
  }
  return best;
}
