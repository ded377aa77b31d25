import type { Reach } from "../../keys/reach.ts";
import { passes } from "../model/filter.ts";
import type { Memory } from "../model/memory.ts";
import { readable } from "../model/reach.ts";
import type { Store } from "../store/store.ts";
import { toAnswers } from "./answer.ts";
import { findInOrder } from "./find-by-id.ts";
import { findNear } from "./similar.ts";

/** Memories around a memory: near in meaning, or in its session. */
export function createNeighbours({
  store,
  clock,
}: {
  store: Pick<Store, "use">;
  clock: () => number;
}) {
  return {
    /** Saved memories that are near a memory in meaning, nearest first. */
    async near(reach: Reach, id: string): Promise<{ memory: Memory; score: number }[]> {
      const filter = { isCurrent: true, isCaptured: false, aliveAt: clock() };
      return await store.use(reach.accountId, async ({ table }) => {
        const found = await findNear(table, id, readable(reach, filter));
        const rows = found.map(({ memory }) => memory);
        const memories = await toAnswers(table, reach, rows);
        return memories.map((memory, place) => ({ memory, score: found[place]?.score ?? 0 }));
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
          return toAnswers(table, reach, seen);
        };
        return { before: await adjacent(false), after: await adjacent(true) };
      });
    },
  };
}
