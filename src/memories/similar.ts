import type { Filter } from "./filter.ts";
import type { Similar } from "./memory.ts";
import { meaningScore } from "./ranking/relevance.ts";
import { rounded } from "./ranking/scores.ts";
import type { MemoryTable } from "./table.ts";

/**
 * From which score on two memories say nearly the same: a cosine of 0.85 with the built-in model.
 * Of 16,000 pairs of short texts in our own evaluation set four reach it: two are alike, two are
 * Chinese, which the model tells apart badly.
 */
const NEARLY_THE_SAME = 0.7;
/** How many are told at the most, and rows that are looked at for them. */
const MOST = 10;
const ROWS = 50;

/**
 * The memories that mean nearly the same as one that is there, the nearest first. Of a long memory
 * the first passage is compared, whose vector is kept: nothing is embedded again.
 * @param filter of those to look among
 */
export async function findSimilar(
  table: MemoryTable,
  id: string,
  filter: Filter,
): Promise<Similar[]> {
  const [vector] = (await table.load([id])).flatMap(({ vectors }) => vectors.slice(0, 1));
  if (!vector) return [];
  const scores = new Map<string, number>();
  const question = { vector, words: null, filter, limit: ROWS, least: MOST + 1 };
  const { candidates } = await table.candidates(question);
  for (const { memory, cosine } of candidates) {
    const score = meaningScore(cosine ?? 0, table.model.cosines);
    if (memory.id !== id && score >= NEARLY_THE_SAME) {
      scores.set(memory.id, rounded(score));
    }
  }
  return [...scores]
    .map(([id, score]) => ({ id, score }))
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST);
}
