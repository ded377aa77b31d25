/** Depths at which recall is measured. */
export const DEPTHS = [1, 5, 10, 20] as const;

/** How well a question was answered, or the mean over several questions. */
export interface Measures {
  questions: number;
  /** The share of the evidence among the first 1, 5, 10 and 20 results. */
  recall: number[];
  /** 1 / the rank of the first evidence; 0 when it was not found. */
  reciprocalRank: number;
}

/** @param found ids, the best first */
export function measure(found: readonly string[], evidence: readonly string[]): Measures {
  const wanted = new Set(evidence);
  const first = found.findIndex((id) => wanted.has(id));
  return {
    questions: 1,
    recall: DEPTHS.map(
      (depth) => found.slice(0, depth).filter((id) => wanted.has(id)).length / wanted.size,
    ),
    reciprocalRank: first < 0 ? 0 : 1 / (first + 1),
  };
}

/** The mean over all questions. */
export function mean(measures: readonly Measures[]): Measures {
  const questions = measures.reduce((sum, one) => sum + one.questions, 0);
  const over = (value: (one: Measures) => number) =>
    measures.reduce((sum, one) => sum + one.questions * value(one), 0) / Math.max(1, questions);
  return {
    questions,
    recall: DEPTHS.map((_, index) => over((one) => one.recall[index] ?? 0)),
    reciprocalRank: over((one) => one.reciprocalRank),
  };
}

/** The value below which a share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
