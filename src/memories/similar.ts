import type { Filter } from "./filter.ts";
import type { Similar } from "./memory.ts";
import { hintOf } from "./ranking/hint.ts";
import { meaningScore } from "./ranking/relevance.ts";
import { rounded } from "./ranking/scores.ts";
import type { MemoryTable } from "./table.ts";

/** How many are told at the most, and rows that are looked at for them. */
const MOST = 10;
const ROWS = 50;

/**
 * The memories that say nearly the same as one that is there, or that it may have outdated, the
 * nearest first. Of a long memory the first passage is compared, whose vector is kept: nothing is
 * embedded again.
 * @param filter of those to look among
 */
export async function findSimilar(
  table: MemoryTable,
  id: string,
  filter: Filter,
): Promise<Similar[]> {
  const [saved] = await table.load([id]);
  const [vector] = saved?.vectors ?? [];
  if (!saved || !vector) return [];
  const question = { vector, words: null, filter, limit: ROWS, least: MOST + 1 };
  const { candidates } = await table.candidates(question);
  return candidates
    .filter(({ memory }) => memory.id !== id)
    .flatMap(({ memory, cosine }) => {
      const score = meaningScore(cosine ?? 0, table.model.cosines);
      const kind = hintOf(memory.content, saved.content, score);
      return kind ? [{ id: memory.id, score: rounded(score), kind }] : [];
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST);
}
