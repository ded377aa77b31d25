import { invalidField } from "../../errors.ts";
import type { Reach } from "../../keys/reach.ts";
import { createPause } from "../../timing/pause.ts";
import {
  type Filter,
  type Order,
  type PageStart,
  passes,
  USE_ORDERS,
  type UseOrder,
} from "../model/filter.ts";
import { LIMITS, MEMORY_ID, type Memory } from "../model/memory.ts";
import { mayRead, readable } from "../model/reach.ts";
import { historyOf } from "../table/links.ts";
import type { TableReader } from "../table/table.ts";
import {
  findable,
  findInOrder,
  findReadable,
  markChanged,
  notFound,
  type Parts,
  toVisibleMemories,
} from "./visible.ts";

/** The last word of a cursor whose page ends before its position. */
const BACKWARD = "newer";

/** A position of a list as an opaque text for clients. */
function encodeCursor({ createdAt, id, importance, isBackward }: PageStart, order: Order): string {
  const words = [createdAt, id, order === "importance" && importance, isBackward && BACKWARD];
  const text = words.filter((word) => word !== false && word !== undefined).join(" ");
  return Buffer.from(text).toString("base64url");
}

/** @throws AppError `validation_failed` for a text that `encodeCursor` did not return for a list in this order */
function decodeCursor(cursor: string, order: Order): PageStart {
  const words = Buffer.from(cursor, "base64url").toString().split(" ");
  const isBackward = words.at(-1) === BACKWARD;
  const [time = "", id = "", importance, ...rest] = isBackward ? words.slice(0, -1) : words;
  const isInOrder =
    order === "newest"
      ? importance === undefined
      : /^[01](\.\d+)?(e-\d+)?$|^[1-9](\.\d+)?e-\d+$/.test(importance ?? "");
  // At most 14 digits: LanceDB fails on times that are far in the future.
  if (!/^\d{1,14}$/.test(time) || !MEMORY_ID.test(id) || !isInOrder || rest.length > 0) {
    throw badCursor();
  }
  return { createdAt: Number(time), id, isBackward, importance: Number(importance) };
}

function badCursor() {
  return invalidField("cursor", "must be a next_cursor that this server returned for this sort");
}

/** How often memories were found or recalled, by id. Others never were. */
export type TimesFound = (accountId: string) => Promise<ReadonlyMap<string, number>>;

const isByUse = (order: Order | UseOrder): order is UseOrder =>
  USE_ORDERS.some((each) => each === order);

/** A cursor of a list by use: the memory next to the page, and its place if it is deleted meanwhile. */
function encodePlace(order: UseOrder, id: string, place: number, isBackward = false): string {
  return Buffer.from([order, id, place, ...(isBackward ? [BACKWARD] : [])].join(" ")).toString(
    "base64url",
  );
}

/** A page of a list by use. Memories that were found equally often come newest first; `never_found` is that list reversed. */
async function pageByUse(
  table: Pick<TableReader, "list">,
  visible: Filter,
  times: ReadonlyMap<string, number>,
  { order, limit, cursor }: { order: UseOrder; limit: number; cursor?: string | undefined },
) {
  const byTimes = new Map<number, string[]>();
  const pause = createPause();
  for (const [index, id] of (await table.list(visible, null)).entries()) {
    if (index % 1_000 === 0) await pause();
    const count = times.get(id) ?? 0;
    const same = byTimes.get(count);
    if (same) same.push(id);
    else byTimes.set(count, [id]);
  }
  const ids = [...byTimes].sort(([a], [b]) => b - a).flatMap(([, same]) => same);
  if (order === "never_found") ids.reverse();

  const text = Buffer.from(cursor ?? "", "base64url").toString();
  const [sort, known = "", place = "", direction] = text.split(" ");
  const isWell = sort === order && MEMORY_ID.test(known) && /^\d{1,9}$/.test(place);
  if (cursor !== undefined && !isWell) throw badCursor();
  const isBackward = direction === BACKWARD;
  const at = ids.indexOf(known);
  const next = at >= 0 ? at + (isBackward ? 0 : 1) : Number(place);
  const start = isBackward ? Math.max(0, next - limit) : next;
  const page = ids.slice(start, start + limit);
  const end = start + page.length;
  const [first = "", last = ""] = [page[0], page.at(-1)];
  return {
    page,
    nextCursor: page.length > 0 && end < ids.length ? encodePlace(order, last, end) : null,
    previousCursor: start > 0 && page.length > 0 ? encodePlace(order, first, start, true) : null,
  };
}

/** Reads histories of memories, page by page. */
export function createHistory({ store, clock }: Parts) {
  /**
   * A memory with the memories that it supersedes and that supersede it, the newest first.
   * @param from id of the page's first memory
   * @throws AppError `memory_not_found`, or `validation_failed` for a `from` outside the history
   */
  return async (
    reach: Reach,
    id: string,
    {
      limit,
      from,
      knownAt,
    }: { limit: number; from?: string | undefined; knownAt?: number | undefined },
  ): Promise<{ memories: Memory[]; next: string | null }> => {
    const [known] = MEMORY_ID.test(id) ? await findReadable(store, reach, [id], clock()) : [];
    if (!known) throw notFound(id);
    const filter = findable(reach, knownAt === undefined ? {} : { knownAt }, clock());
    return await store.use(reach.accountId, async ({ table }) => {
      const hidden = new Set<string>();
      const get = async (each: string) => {
        const [row] = await table.find([each]);
        const { createdAt = 0 } = row ?? {};
        const isLater = filter.knownAt !== undefined && createdAt > filter.knownAt;
        if (row && (isLater || !mayRead(reach, row))) hidden.add(row.id);
        return row ?? null;
      };
      // `next` must not name a memory that was saved later or is out of reach.
      const ids = (await historyOf(get, id)).filter((each) => !hidden.has(each));
      const start = from === undefined ? 0 : ids.indexOf(from);
      if (start < 0) {
        throw invalidField(
          "cursor",
          "must be the next_cursor of a page of this history, as it is now",
        );
      }
      const rows = await findInOrder(table, ids.slice(start, start + limit));
      const shown = rows.filter((row) => passes(filter, row));
      return {
        memories: markChanged(await toVisibleMemories(table, reach, shown), filter),
        next: ids[start + limit] ?? null,
      };
    });
  };
}

/**
 * Lists memories page by page, newest first by default, with the cursors of the next and the previous page. A page before
 * a cursor that would not be full becomes the first page.
 */
export function createListing({ store, clock, timesFound }: Parts & { timesFound: TimesFound }) {
  const listByUse = async (
    reach: Reach,
    {
      filter,
      ...asked
    }: { filter: Filter; limit: number; cursor?: string | undefined; order: UseOrder },
  ) => {
    const times = await timesFound(reach.accountId);
    return await store.use(reach.accountId, async ({ table }) => {
      const visible = findable(reach, filter, clock());
      const { page, ...cursors } = await pageByUse(table, visible, times, asked);
      const rows = (await findInOrder(table, page)).filter((row) => mayRead(reach, row));
      const memories = markChanged(await toVisibleMemories(table, reach, rows), visible);
      return { memories, ...cursors };
    });
  };

  return async (
    reach: Reach,
    {
      filter,
      limit,
      cursor,
      order = "newest",
    }: {
      filter: Filter;
      limit: number;
      cursor?: string | undefined;
      order?: Order | UseOrder | undefined;
    },
  ) => {
    if (isByUse(order)) return await listByUse(reach, { filter, limit, cursor, order });
    let from = cursor === undefined ? null : decodeCursor(cursor, order);
    const visible = findable(reach, filter, clock());
    const { rows, memories, isMore } = await store.use(reach.accountId, async ({ table }) => {
      // One more than asked for tells whether there is another page.
      let ids = await table.list(visible, from, limit + 1, order);
      if (from?.isBackward && ids.length <= limit) {
        from = null;
        ids = await table.list(visible, null, limit + 1, order);
      }
      const isMore = ids.length > limit;
      const page = from?.isBackward ? ids.slice(1) : ids.slice(0, limit);
      const found = await findInOrder(table, page);
      // A memory may have moved out of reach since it was listed.
      const rows = found.filter((row) => mayRead(reach, row));
      const memories = markChanged(await toVisibleMemories(table, reach, rows), visible);
      return { rows, memories, isMore };
    });
    const [first, last] = [rows[0], rows.at(-1)];
    // After a backward page comes the page that the client came from.
    const hasNext = isMore || from?.isBackward;
    return {
      memories,
      nextCursor: last && hasNext ? encodeCursor(last, order) : null,
      previousCursor: first && from ? encodeCursor({ ...first, isBackward: true }, order) : null,
    };
  };
}

/** The most memories of a page, and the bytes that it should have: reading and writing 1 MB takes some 10 ms. */
const PAGE = 128;
const PAGE_BYTES = 1 << 19;
/** Bytes of an id without its prefix. */
const ID_BYTES = 16;

/**
 * Returns a function that reads all memories of an account, oldest first, in pages and as fast as the client takes
 * them. The export has the memories that existed at the call: later ones are missing, changed ones have their newest
 * state, and deleted ones are left out. Between pages it keeps 16 bytes for each memory and nothing else.
 */
export function createExport({ store, clock }: Parts) {
  let last: Promise<unknown> = Promise.resolve();

  /**
   * Ids of matching memories, newest first. One list at a time: a list of 100,000 memories takes 30 MB for
   * a moment.
   */
  const listIds = (accountId: string, filter: Filter): Promise<Buffer> => {
    const listed = last.then(async () =>
      pack(await store.use(accountId, ({ table }) => table.list(filter, null))),
    );
    last = listed.catch(() => {});
    return listed;
  };

  return async (reach: Reach, filter: Filter): Promise<AsyncGenerator<Memory[], void>> => {
    const visible = readable(reach, { ...filter, aliveAt: clock() });
    // What is exported is imported anywhere, also where there is no such space.
    const { space: _, spaces: __, ...exporting } = reach;
    return readPages(store, exporting, await listIds(reach.accountId, visible));
  };
}

async function pack(ids: readonly string[]): Promise<Buffer> {
  const pause = createPause();
  const packed = Buffer.alloc(ids.length * ID_BYTES);
  for (const [index, id] of ids.entries()) {
    packed.write(id.slice("mem_".length), index * ID_BYTES, "hex");
    if (index % 1_000 === 0) await pause();
  }
  return packed;
}

async function* readPages(
  store: Parts["store"],
  reach: Reach,
  packed: Buffer,
): AsyncGenerator<Memory[], void> {
  const pause = createPause();
  let size = PAGE_BYTES / LIMITS.content;
  for (let end = packed.length, start: number; end > 0; end = start) {
    start = Math.max(0, end - size * ID_BYTES);
    const ids = unpack(packed.subarray(start, end)).reverse();
    const memories = await store.use(reach.accountId, async ({ table }) => {
      const rows = await findInOrder(table, ids);
      // A memory may have moved out of reach since the call.
      const reached = rows.filter((row) => mayRead(reach, row));
      return toVisibleMemories(table, reach, reached);
    });
    yield memories;
    const characters = memories.reduce((sum, { content }) => sum + content.length, 0);
    size = Math.min(PAGE, 2 * size, Math.ceil((size * PAGE_BYTES) / Math.max(1, characters)));
    await pause();
  }
}

function unpack(bytes: Buffer): string[] {
  return Array.from({ length: bytes.length / ID_BYTES }, (_, index) => {
    const start = index * ID_BYTES;
    return `mem_${bytes.toString("hex", start, start + ID_BYTES)}`;
  });
}
