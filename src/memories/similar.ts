import type { Filter } from "./filter.ts";
import type { Similar } from "./memory.ts";
import { hintOf } from "./ranking/hint.ts";
import { meaningScore } from "./ranking/relevance.ts";
import { rounded } from "./ranking/scores.ts";
import type { MemoryRow } from "./rows.ts";
import type { MemoryTable } from "./table.ts";

/** How many are told at the most, and rows that are looked at for them. */
const MOST = 10;
const ROWS = 50;
/** From which likeness on two texts are about the same: a cosine of 0.65, which one pair in fifty of any two has. */
const NEAR = 0.3;

/** A memory, and how alike it is in meaning to another one, 0 to 1: 1 for the same text. */
export interface Near {
  memory: MemoryRow;
  score: number;
}

/**
 * The memories that say nearly the same as one that is there, or that it may have outdated, the
 * nearest first.
 * @param filter of those to look among
 */
export async function findSimilar(
  table: MemoryTable,
  id: string,
  filter: Filter,
): Promise<Similar[]> {
  const { content, nearest } = await nearestTo(table, id, filter);
  return nearest
    .flatMap(({ memory, score }) => {
      const kind = hintOf(memory.content, content, score);
      return kind ? [{ id: memory.id, score: rounded(score), kind }] : [];
    })
    .slice(0, MOST);
}

/** The memories that are near one in meaning, the nearest first; none where nothing is. */
export async function findNear(table: MemoryTable, id: string, filter: Filter): Promise<Near[]> {
  const { nearest } = await nearestTo(table, id, filter);
  return nearest
    .filter(({ score }) => score >= NEAR)
    .map(({ memory, score }) => ({ memory, score: rounded(score) }))
    .slice(0, MOST);
}

/**
 * The text of a memory, and what is nearest to it. Of a long memory the first passage is compared, whose
 * vector is kept: nothing is embedded again.
 */
async function nearestTo(
  table: MemoryTable,
  id: string,
  filter: Filter,
): Promise<{ content: string; nearest: Near[] }> {
  const [saved] = await table.load([id]);
  const [vector] = saved?.vectors ?? [];
  if (!saved || !vector) return { content: "", nearest: [] };
  const question = { vector, words: null, filter, limit: ROWS, least: MOST + 1 };
  const { candidates } = await table.candidates(question);
  const nearest = candidates
    .filter(({ memory }) => memory.id !== id)
    .map(({ memory, cosine }) => ({
      memory,
      score: meaningScore(cosine ?? 0, table.model.cosines),
    }))
    .sort((a, b) => b.score - a.score);
  return { content: saved.content, nearest };
}
