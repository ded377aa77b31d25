import type { Reach } from "../../keys/reach.ts";
import { invalidCursor } from "../model/cursor.ts";
import { passes } from "../model/filter.ts";
import { MEMORY_ID, type Memory } from "../model/memory.ts";
import { mayRead, readable } from "../model/reach.ts";
import type { Store } from "../store/store.ts";
import { historyOf } from "../table/links.ts";
import { toAnswers } from "./answer.ts";
import { findInOrder, findReadable, notFound } from "./find-by-id.ts";

/** Reads histories of memories, page by page. */
export function createHistory({
  store,
  clock,
}: {
  store: Pick<Store, "use">;
  clock: () => number;
}) {
  /**
   * A memory with the memories that it supersedes and that supersede it, the newest first.
   * @param from id of the page's first memory
   * @throws AppError `memory_not_found`, or `validation_failed` for a `from` outside the history
   */
  return async (
    reach: Reach,
    id: string,
    { limit, from }: { limit: number; from?: string | undefined },
  ): Promise<{ memories: Memory[]; next: string | null }> => {
    const [known] = MEMORY_ID.test(id) ? await findReadable(store, reach, [id], clock()) : [];
    if (!known) throw notFound(id);
    return await store.use(reach.accountId, async ({ table }) => {
      const hidden = new Set<string>();
      const get = async (each: string) => {
        const [row] = await table.find([each]);
        if (row && !mayRead(reach, row)) hidden.add(row.id);
        return row ?? null;
      };
      // `next` must not name a memory out of reach.
      const ids = (await historyOf(get, id)).filter((each) => !hidden.has(each));
      const start = from === undefined ? 0 : ids.indexOf(from);
      if (start < 0) {
        throw invalidCursor("must be the next_cursor of a page of this history, as it is now");
      }
      const rows = await findInOrder(table, ids.slice(start, start + limit));
      const visible = readable(reach, { aliveAt: clock() });
      return {
        memories: await toAnswers(
          table,
          reach,
          rows.filter((row) => passes(visible, row)),
        ),
        next: ids[start + limit] ?? null,
      };
    });
  };
}
