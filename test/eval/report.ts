import { SEARCH_MODES } from "../../src/memories/ranking/question.ts";
import { DEPTHS, mean, quantile } from "./measures.ts";
import type { Answered } from "./recall.ts";

/** Questions of one category, or all of them, in one mode. */
export interface Line {
  mode: string;
  category: string;
  questions: number;
  recall: Record<string, number>;
  mrr: number;
  /** Milliseconds of a search in process, its vector at hand. */
  p50: number;
  p95: number;
}

/** One line for each mode and category, and one for each mode in all. */
export function summarise(answers: readonly Answered[]): Line[] {
  return SEARCH_MODES.flatMap((mode) => {
    const own = answers.filter((answer) => answer.mode === mode && answer.measures);
    const categories = [...new Set(own.map(({ category }) => category))].sort();
    const lineOf = (category: string, of: readonly Answered[]): Line => {
      const { questions, recall, reciprocalRank } = mean(
        of.flatMap(({ measures }) => measures ?? []),
      );
      const times = of.map(({ milliseconds }) => milliseconds);
      return {
        mode,
        category,
        questions,
        recall: Object.fromEntries(DEPTHS.map((depth, index) => [depth, recall[index] ?? 0])),
        mrr: reciprocalRank,
        p50: quantile(times, 0.5),
        p95: quantile(times, 0.95),
      };
    };
    if (own.length === 0) return [];
    return [
      ...categories.map((category) =>
        lineOf(
          category,
          own.filter((answer) => answer.category === category),
        ),
      ),
      lineOf("all", own),
    ];
  });
}

/** The lines as a table for people. */
export function formatTable(lines: readonly Line[]): string {
  const head = [
    "mode",
    "category",
    "n",
    ...DEPTHS.map((depth) => `@${depth}`),
    "MRR",
    "p50",
    "p95",
  ];
  const rows = lines.map(({ mode, category, questions, recall, mrr, p50, p95 }) => [
    mode,
    category,
    String(questions),
    ...DEPTHS.map((depth) => (recall[depth] ?? 0).toFixed(3)),
    mrr.toFixed(3),
    `${p50.toFixed(1)} ms`,
    `${p95.toFixed(1)} ms`,
  ]);
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) =>
          column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("  "),
    )
    .join("\n");
}
