import { PARTS, type Part } from "./signals/kind.ts";
import { SIGNALS } from "./signals/signals.ts";
import learned from "./weights.json" with { type: "json" };

/** The weight of each signal, and the base of a memory without signals, in log-odds. */
export interface Weights {
  readonly start: number;
  readonly weights: Float64Array;
}

/** The weights learned from conversations; see `test/eval/train.ts`. */
export const WEIGHTS: Weights = readWeights(learned);

export function readWeights({
  start,
  weights,
}: {
  start: number;
  weights: Readonly<Record<string, number>>;
}): Weights {
  return { start, weights: Float64Array.from(SIGNALS, ({ name }) => weights[name] ?? 0) };
}

/** The weighted sum of signals. */
export function sumOf(signals: Float64Array, { start, weights }: Weights): number {
  let sum = start;
  for (let at = 0; at < weights.length; at++) sum += (signals[at] ?? 0) * (weights[at] ?? 0);
  return sum;
}

/** The contribution of each part to the sum. */
export function partsOf(signals: Float64Array, { weights }: Weights): Record<Part, number> {
  const parts = Object.fromEntries(PARTS.map((part) => [part, 0])) as Record<Part, number>;
  for (const [at, { part }] of SIGNALS.entries()) {
    parts[part] += (signals[at] ?? 0) * (weights[at] ?? 0);
  }
  return parts;
}
