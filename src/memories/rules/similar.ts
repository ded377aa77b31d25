import { cosineOf, type Embedder } from "../../embedding/embedder.ts";
import { relateUpTo } from "../../embedding/relations/relate-up-to.ts";
import type { Reach } from "../../keys/reach.ts";
import { createPause } from "../../timing/pause.ts";
import { type Filter, passes } from "../model/filter.ts";
import type { Memory, Similar } from "../model/memory.ts";
import { readable } from "../model/reach.ts";
import type { MemoryRow } from "../model/rows.ts";
import { hintOf, isRestatement, LEAST_ALIKE, LEFT_OUT, likenessOf } from "../ranking/hint.ts";
import { meaningScore, rounded } from "../ranking/relevance.ts";
import type { MemoryTable } from "../table/table.ts";
import { findInOrder, type Parts, toVisibleMemories } from "./visible.ts";

/** The most similar memories that are returned, and the candidates among which they are found. */
const MAX_SIMILAR = 10;
const CANDIDATES = 50;
/** Pairs that the model of relations judges for a saved memory, and when a conversation begins. Each takes 2.5 ms. */
const RELATED = 16;
const RELATED_AT_BEGIN = 64;
/** Links of a history that are followed to find what holds now. */
const MAX_STEPS = 32;
/** Lowest score of memories that people are shown as similar: below it, few are about the same thing. */
const NEAR = 0.6;
/** Later memories, the nearest, of which one may have outdated a memory. */
const LATER = 8;

/** A memory, and its similarity in meaning to another one, 0 to 1: 1 for the same text. */
interface NearMemory {
  memory: MemoryRow;
  score: number;
}

/**
 * The memories that say nearly the same as a memory, or that it may have outdated, nearest first; then those that said
 * the same and were superseded.
 * @param filter which memories are compared, superseded ones included
 */
export async function findSimilar(
  { table, embedder }: { table: MemoryTable; embedder: Pick<Embedder, "relate"> },
  id: string,
  filter: Filter,
): Promise<Similar[]> {
  const relate = () => relateUpTo(RELATED, embedder.relate);
  const [relateCurrent, relateSuperseded] = [relate(), relate()];
  const { saved, nearest } = await nearestTo(table, id, { ...filter, isCurrent: true });
  const current: Similar[] = [];
  for (const { memory, score } of nearest) {
    const kind = await hintOf(memory, saved, score, relateCurrent);
    if (kind) current.push({ id: memory.id, score: rounded(score), kind });
  }
  const all = await nearestTo(table, id, filter);
  const superseded: Similar[] = [];
  for (const { memory, score } of all.nearest) {
    if (memory.supersededBy === null) continue;
    if (!(await isRestatement(memory, saved, score, relateSuperseded))) continue;
    const holds = await newestOf(table, memory, filter);
    // A memory that supersedes this one says the same again on purpose.
    if (holds === null || holds === id) continue;
    superseded.push({
      ...{ id: memory.id, score: rounded(score), kind: "superseded" },
      superseded_by: holds,
    });
  }
  return [...current, ...superseded].slice(0, MAX_SIMILAR);
}

/** Id of the memory that holds now of a superseded one's history; null if the caller may not read it. */
async function newestOf(
  table: Pick<MemoryTable, "find">,
  memory: MemoryRow,
  filter: Filter,
): Promise<string | null> {
  let newest = memory;
  for (let step = 0; newest.supersededBy !== null && step < MAX_STEPS; step++) {
    const [next] = await table.find([newest.supersededBy]);
    if (!next) break;
    newest = next;
  }
  return passes({ ...filter, isCurrent: true }, newest) ? newest.id : null;
}

/**
 * A memory, and the memories that are nearest to it. Compares the vector of the first passage,
 * which is stored, so that nothing is embedded again.
 */
export async function nearestTo(
  table: MemoryTable,
  id: string,
  filter: Filter,
): Promise<{ saved: Pick<MemoryRow, "content">; nearest: NearMemory[] }> {
  const [saved] = await table.load([id]);
  const [vector] = saved?.vectors ?? [];
  if (!saved || !vector) return { saved: { content: "" }, nearest: [] };
  const question = { vector, words: null, filter, limit: CANDIDATES, least: MAX_SIMILAR + 1 };
  const { candidates } = await table.candidates(question);
  const nearest = candidates
    .filter(({ memory }) => memory.id !== id)
    .map(({ memory, cosine }) => ({
      memory,
      score: meaningScore(cosine ?? 0, table.model.cosines),
    }))
    .sort((a, b) => b.score - a.score);
  return { saved, nearest };
}

/** Memories around a memory: near in meaning, or in its session. */
export function createNeighbours({ store, clock }: Parts) {
  return {
    /** Saved memories that are near a memory in meaning, nearest first. */
    async near(reach: Reach, id: string): Promise<{ memory: Memory; score: number }[]> {
      const filter = { isCurrent: true, isCaptured: false, aliveAt: clock() };
      return await store.use(reach.accountId, async ({ table }) => {
        const { nearest } = await nearestTo(table, id, readable(reach, filter));
        const found = nearest.filter(({ score }) => score >= NEAR).slice(0, MAX_SIMILAR);
        const rows = found.map(({ memory }) => memory);
        const memories = await toVisibleMemories(table, reach, rows);
        const score = (place: number) => rounded(found[place]?.score ?? 0);
        return memories.map((memory, place) => ({ memory, score: score(place) }));
      });
    },

    /** Of saved memories, those that a later one of them restates or changes, without the pinned ones. */
    async outdatedAmong(reach: Reach, ids: readonly string[]): Promise<Set<string>> {
      const filter = readable(reach, { isCaptured: false, aliveAt: clock() });
      return await store.use(reach.accountId, async ({ table, embedder }) => {
        const relate = relateUpTo(RELATED_AT_BEGIN, embedder.relate);
        const rows = (await table.find(ids)).filter((row) => passes(filter, row));
        const vectors = await table.vectorsOf(rows.map(({ id }) => id));
        const pairs: { earlier: MemoryRow; later: MemoryRow; score: number }[] = [];
        const pause = createPause();
        for (const earlier of rows.filter(({ pinned }) => !pinned)) {
          await pause();
          const near = rows.flatMap((later) => {
            const [a, b] = [vectors.get(earlier.id), vectors.get(later.id)];
            if (!a || !b || later.project !== earlier.project) return [];
            if (later.createdAt <= earlier.createdAt) return [];
            const score = meaningScore(cosineOf(a, b), table.model.cosines);
            return score >= LEAST_ALIKE ? [{ earlier, later, score }] : [];
          });
          pairs.push(...near.sort((a, b) => b.score - a.score).slice(0, LATER));
        }
        const outdated = new Set<string>();
        for (const { earlier, later, score } of pairs.sort((a, b) => b.score - a.score)) {
          await pause();
          if (outdated.has(earlier.id)) continue;
          if (await likenessOf(earlier, later, score, relate, LEFT_OUT)) outdated.add(earlier.id);
        }
        return outdated;
      });
    },

    /** Memories before and after a memory in its session, at most `limit` of each, oldest first. */
    async inSession(
      reach: Reach,
      id: string,
      limit: number,
    ): Promise<{ before: Memory[]; after: Memory[] }> {
      const visible = readable(reach, { aliveAt: clock() });
      return await store.use(reach.accountId, async ({ table }) => {
        const [memory] = (await table.find([id])).filter((row) => passes(visible, row));
        if (!memory || memory.sessionId === null) return { before: [], after: [] };
        const session = { ...visible, sessionId: memory.sessionId };
        const adjacent = async (isBackward: boolean) => {
          const ids = await table.list(session, { ...memory, isBackward }, limit);
          const rows = await findInOrder(table, ids.toReversed());
          const seen = rows.filter((row) => passes(visible, row));
          return toVisibleMemories(table, reach, seen);
        };
        return { before: await adjacent(false), after: await adjacent(true) };
      });
    },
  };
}
