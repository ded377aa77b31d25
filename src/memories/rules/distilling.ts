import { hasScope, type Reach } from "../../keys/reach.ts";
import { createPause } from "../../timing/pause.ts";
import { compareIn, type Filter, type PageStart, wasCaptured } from "../model/filter.ts";
import { LIMITS, MEMORY_ID, type Memory } from "../model/memory.ts";
import { mayWrite, readable } from "../model/reach.ts";
import type { MemoryRow } from "../model/rows.ts";
import { findInOrder, findReadable, type Parts, toVisibleMemories } from "./visible.ts";

/** The tag of captured turns from which an agent has made memories. */
const DISTILLED = "distilled";
/** Distilled turns expire after this time at the latest. */
export const DISTILLED_DAYS = 7;
/** Turns that are distilled at once. */
const MAX_TURNS = 400;
/** Turns that are read or changed at once. */
const BATCH = 64;
/** A position before all memories of its time. */
const FIRST_ID = `mem_${"0".repeat(32)}`;

/** The first and the last of the turns that were distilled together. */
export interface DistilledTurns {
  readonly from: string;
  readonly to: string;
}

/** About how many characters turns may have together, if one counts with `ofOne` at most. */
interface Room {
  characters: number;
  ofOne: number;
}

/** What was captured of a project, for an agent that makes memories of it. */
export function createDistilling({ store, clock }: Parts) {
  /** Ids of captured turns after a position, oldest first. */
  const idsAfter = (reach: Reach, filter: Filter, after: PageStart, limit: number) =>
    store.use(reach.accountId, async ({ table }) => {
      const since = readable(reach, { ...filter, createdAfter: after.createdAt, aliveAt: clock() });
      return (await table.list(since, { ...after, isBackward: true }, limit)).reverse();
    });

  /** The newest turn that was distilled. */
  const lastDistilled = (reach: Reach, filter: Filter): Promise<PageStart | null> =>
    store.use(reach.accountId, async ({ table }) => {
      const visible = readable(reach, { ...filter, tags: [DISTILLED], aliveAt: clock() });
      const [last] = await findInOrder(table, await table.list(visible, null, 1));
      return last ? { createdAt: last.createdAt, id: last.id } : null;
    });

  const changeSome = (
    reach: Reach,
    ids: readonly string[],
    project: string | null,
    now: number,
  ): Promise<number> =>
    store.use(reach.accountId, ({ writer }) =>
      writer.change({
        ids,
        withVectors: true,
        apply(draft) {
          let count = 0;
          for (const id of ids) {
            const [turn, embedding] = [draft.get(id), draft.embeddingOf(id)];
            if (!turn || !embedding || !wasCaptured(turn) || turn.project !== project) continue;
            count++;
            const next = distilled(turn, now);
            if (next.tags === turn.tags && next.expiresAt === turn.expiresAt) continue;
            // `updatedAt` stays: nobody has changed what was said.
            draft.put({ ...next, ...embedding });
          }
          return count;
        },
      }),
    );

  /** The turns after a position that fit, oldest first. */
  const readTurns = async (
    reach: Reach,
    filter: Filter,
    after: PageStart,
    { characters, ofOne }: Room,
  ): Promise<Memory[]> => {
    const ids = await idsAfter(reach, filter, after, MAX_TURNS);
    const turns: Memory[] = [];
    const pause = createPause();
    let room = characters;
    for (let start = 0; start < ids.length; start += BATCH) {
      await pause();
      const page = await store.use(reach.accountId, async ({ table }) =>
        toVisibleMemories(table, reach, await findInOrder(table, ids.slice(start, start + BATCH))),
      );
      for (const turn of page) {
        room -= Math.min(turn.content.length, ofOne);
        if (room < 0 && turns.length > 0) return turns;
        turns.push(turn);
      }
    }
    return turns;
  };

  return {
    /**
     * The captured turns of a project since those that were distilled last, oldest first.
     * @param after milliseconds since 1970 from which on turns count instead
     * @returns the turns that fit, and the number of those that follow them
     */
    async undistilled(
      reach: Reach,
      { project, after, ...room }: Room & { project: string | null; after: number | null },
    ): Promise<{ turns: Memory[]; waiting: number }> {
      const filter = { projects: [project], isCaptured: true };
      // Each step looks at all memories: other requests run in between.
      const pause = createPause();
      const last = after === null ? await lastDistilled(reach, filter) : null;
      const position = last ?? { createdAt: after ?? 0, id: FIRST_ID };
      await pause();
      const turns = await readTurns(reach, filter, position, room);
      const newest = turns.at(-1);
      if (!newest) return { turns, waiting: 0 };
      await pause();
      const createdAfter = Date.parse(newest.created_at) + 1;
      const later = readable(reach, { ...filter, createdAfter, aliveAt: clock() });
      const waiting = await store.use(reach.accountId, ({ table }) => table.count(later));
      return { turns, waiting };
    },

    /**
     * Marks captured turns of one project as distilled, so that they expire sooner: never those that are pinned or never
     * expire. If it fails, some are marked, the oldest first; calling it again marks the rest.
     * @returns the number of turns; 0 for ids of anything else, and for callers who may not change them
     */
    async markDistilled(reach: Reach, { from, to }: DistilledTurns): Promise<number> {
      const now = clock();
      const ends = [from, to].filter((id) => MEMORY_ID.test(id));
      if (ends.length < 2 || !hasScope(reach, "memories:write")) return 0;
      const [first, last] = await findReadable(store, reach, ends, now);
      if (!first || !last || !areOfOneProject(first, last) || !mayWrite(reach, first)) return 0;
      const { project } = first;
      const filter = {
        projects: [project],
        isCaptured: true,
        createdBefore: last.createdAt + 1,
      };
      const later = await idsAfter(reach, filter, first, MAX_TURNS - 1);
      const ids = first.id === last.id ? [first.id] : [first.id, ...later];
      const end = ids.indexOf(last.id);
      const wanted = end === -1 ? ids : ids.slice(0, end + 1);
      const pause = createPause();
      let marked = 0;
      for (let start = 0; start < wanted.length; start += BATCH) {
        await pause();
        marked += await changeSome(reach, wanted.slice(start, start + BATCH), project, now);
      }
      return marked;
    },
  };
}

function areOfOneProject(first: MemoryRow, last: MemoryRow): boolean {
  const isInOrder = compareIn("newest")(last, first) <= 0;
  return isInOrder && wasCaptured(first) && wasCaptured(last) && first.project === last.project;
}

function distilled<Turn extends MemoryRow>(turn: Turn, now: number): Turn {
  const { tags, pinned, expiresAt } = turn;
  const isTagged = tags.includes(DISTILLED) || tags.length >= LIMITS.tags;
  const soon = now + DISTILLED_DAYS * 86_400_000;
  return {
    ...turn,
    tags: isTagged ? tags : [...tags, DISTILLED],
    // A turn that never expires is kept on purpose.
    expiresAt: pinned || expiresAt === null ? expiresAt : Math.min(expiresAt, soon),
  };
}
