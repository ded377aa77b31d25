import type { Filter } from "./filter.ts";
import type { Similar } from "./memory.ts";
import { hintOf } from "./ranking/hint.ts";
import { meaningScore } from "./ranking/relevance.ts";
import { rounded } from "./ranking/scores.ts";
import type { MemoryRow } from "./rows.ts";
import type { MemoryTable } from "./table.ts";

/** The most similar memories that are returned, and the candidates among which they are found. */
const MAX_SIMILAR = 10;
const CANDIDATES = 50;
/** Lowest score of texts about the same subject: a cosine of 0.65, which one of fifty random pairs has. */
const NEAR = 0.3;

/** A memory, and its similarity in meaning to another one, 0 to 1: 1 for the same text. */
interface NearMemory {
  memory: MemoryRow;
  score: number;
}

/**
 * The memories that say nearly the same as a memory, or that it may have outdated, nearest first.
 * @param filter which memories are compared
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
    .slice(0, MAX_SIMILAR);
}

/** The memories that are near a memory in meaning, nearest first. */
export async function findNear(
  table: MemoryTable,
  id: string,
  filter: Filter,
): Promise<NearMemory[]> {
  const { nearest } = await nearestTo(table, id, filter);
  return nearest
    .filter(({ score }) => score >= NEAR)
    .map(({ memory, score }) => ({ memory, score: rounded(score) }))
    .slice(0, MAX_SIMILAR);
}

/**
 * The text of a memory, and the memories that are nearest to it. Compares the vector of the first passage,
 * which is stored, so that nothing is embedded again.
 */
async function nearestTo(
  table: MemoryTable,
  id: string,
  filter: Filter,
): Promise<{ content: string; nearest: NearMemory[] }> {
  const [saved] = await table.load([id]);
  const [vector] = saved?.vectors ?? [];
  if (!saved || !vector) return { content: "", nearest: [] };
  const question = { vector, words: null, filter, limit: CANDIDATES, least: MAX_SIMILAR + 1 };
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
