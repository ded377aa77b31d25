import type { Reach } from "../../keys/reach.ts";
import { decodeCursor, encodeCursor } from "../model/cursor.ts";
import type { Filter } from "../model/filter.ts";
import type { Memory } from "../model/memory.ts";
import { mayRead, readable } from "../model/reach.ts";
import type { Store } from "../store/store.ts";
import { toAnswers } from "./answer.ts";
import { findInOrder } from "./find-by-id.ts";

/** A page of a list, newest first, with the cursors of the next and the previous page. */
interface ListPage {
  memories: Memory[];
  nextCursor: string | null;
  previousCursor: string | null;
}

/**
 * Lists memories, newest first, page by page. A page before a cursor that would not be full becomes the
 * first page.
 */
export function createListing({
  store,
  clock,
}: {
  store: Pick<Store, "use">;
  clock: () => number;
}) {
  return async (
    reach: Reach,
    { filter, limit, cursor }: { filter: Filter; limit: number; cursor?: string | undefined },
  ): Promise<ListPage> => {
    let from = cursor === undefined ? null : decodeCursor(cursor);
    const { rows, memories, isMore } = await store.use(reach.accountId, async ({ table }) => {
      const visible = readable(reach, { ...filter, aliveAt: clock() });
      // One more than asked for tells whether there is another page.
      let ids = await table.list(visible, from, limit + 1);
      if (from?.isBackward && ids.length <= limit) {
        from = null;
        ids = await table.list(visible, null, limit + 1);
      }
      const isMore = ids.length > limit;
      const page = from?.isBackward ? ids.slice(1) : ids.slice(0, limit);
      const found = await findInOrder(table, page);
      // A memory may have moved out of reach since it was listed.
      const rows = found.filter((row) => mayRead(reach, row));
      return { rows, memories: await toAnswers(table, reach, rows), isMore };
    });
    const [first, last] = [rows[0], rows.at(-1)];
    // After a backward page comes the page that the client came from.
    const hasNext = isMore || from?.isBackward;
    return {
      memories,
      nextCursor: last && hasNext ? encodeCursor(last) : null,
      previousCursor: first && from ? encodeCursor({ ...first, isBackward: true }) : null,
    };
  };
}
