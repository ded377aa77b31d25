import type { Decay } from "../config.ts";
import { watchModels } from "../embedding/model-at-hand.ts";
import { AppError } from "../errors.ts";
import type { Reach } from "../keys/reach.ts";
import { createTurns } from "../turns.ts";
import { createExport } from "./export.ts";
import { type Filter, passes } from "./filter.ts";
import type { FoundMemory } from "./found-memory.ts";
import { historyOf } from "./links.ts";
import { createMaps, type MemoryMap } from "./map/map.ts";
import { createMatcher } from "./matched/matched.ts";
import { termsOf } from "./matched/terms.ts";
import { MEMORY_ID, type Memory, type Similar } from "./memory.ts";
import type { Usage } from "./quota.ts";
import type { SearchMode } from "./ranking/mode.ts";
import { type Fading, fadingOf } from "./ranking/retention.ts";
import { mayRead, readable } from "./reach.ts";
import { decodeCursor, encodeCursor } from "./requests.ts";
import { type MemoryRow, toMemory } from "./rows.ts";
import { type SearchRequest, type SearchResult, searchTable } from "./search.ts";
import { findSimilar } from "./similar.ts";
import { createSurvey, type Stats } from "./stats.ts";
import type { Store } from "./store.ts";
import type { MemoryTable } from "./table.ts";

export type Reading = ReturnType<typeof createReading>;

/** How memories are found and read; see `createMemories`. */
export function createReading({
  store,
  clock,
  decay,
}: {
  store: Pick<Store, "use" | "bytes" | "usage" | "position">;
  clock: () => number;
  decay: Decay;
}) {
  const survey = createSurvey({ clock, decay });
  const drawMap = createMaps({ clock });
  const isModelAtHand = watchModels();

  const find = async (reach: Reach, id: string): Promise<Memory | null> => {
    const [row] = MEMORY_ID.test(id) ? await findInOrder(store, reach, [id], clock()) : [];
    return row ? toMemory(row) : null;
  };

  return {
    /**
     * Memories that answer a query, the best first, and the mode in which they were found: a hybrid
     * search goes by words alone while the model is still being loaded.
     */
    async search(
      reach: Reach,
      request: SearchRequest,
    ): Promise<{ memories: FoundMemory[]; mode: SearchMode }> {
      const filter = readable(reach, { ...request.filter, aliveAt: clock() });
      const { found, mode } = await store.use(reach.accountId, async ({ table, embedder }) => {
        const isByWords = request.mode === "hybrid" && !(await isModelAtHand(embedder));
        const mode = isByWords ? "keyword" : request.mode;
        const moment = { now: clock(), decay };
        return {
          mode,
          found: await searchTable(table, embedder, { ...request, filter, mode }, moment),
        };
      });
      const memories = await toFound(found, request);
      return { memories, mode };
    },

    /**
     * Memories that say nearly the same as one that was saved just now, or that it may have outdated,
     * so that they are not piled up. None when they can't be read: the save has succeeded all the same.
     */
    async similar(reach: Reach, id: string): Promise<Similar[]> {
      const find = store.use(reach.accountId, async ({ table }) => {
        const [memory] = await table.find([id]);
        if (!memory) return [];
        // What one project says is nothing to another one.
        const projects = [memory.project, null];
        // What was captured is not superseded: nobody chose to keep it.
        const filter = { projects, isCurrent: true, isCaptured: false, aliveAt: clock() };
        return findSimilar(table, id, readable(reach, filter));
      });
      return await find.catch(() => []);
    },

    /**
     * A page of memories, newest first, and where those before and after it start (`null` where there is
     * none). Where a page of newer ones would not be full, it is the first page.
     */
    async list(
      reach: Reach,
      { filter, limit, cursor }: { filter: Filter; limit: number; cursor?: string | undefined },
    ): Promise<{ memories: Memory[]; nextCursor: string | null; previousCursor: string | null }> {
      let from = cursor === undefined ? null : decodeCursor(cursor);
      const { rows, isMore } = await store.use(reach.accountId, async ({ table }) => {
        // One more than asked for tells whether there is another page.
        const visible = readable(reach, { ...filter, aliveAt: clock() });
        let ids = await table.list(visible, from, limit + 1);
        if (from?.isBackward && ids.length <= limit) {
          from = null;
          ids = await table.list(visible, null, limit + 1);
        }
        const isMore = ids.length > limit;
        const page = from?.isBackward ? ids.slice(1) : ids.slice(0, limit);
        const rows = await inOrder(table, page);
        // What was moved out of reach meanwhile does not come.
        return { rows: rows.filter((row) => mayRead(reach, row)), isMore };
      });
      const [first, last] = [rows[0], rows.at(-1)];
      // A page that was gone back to has the one after it, from which somebody came.
      const hasNext = isMore || from?.isBackward;
      return {
        memories: rows.map(toMemory),
        nextCursor: last && hasNext ? encodeCursor(last) : null,
        previousCursor: first && from ? encodeCursor({ ...first, isBackward: true }) : null,
      };
    },

    /** All memories, the oldest first, to be moved elsewhere; see `ExportMemories`. */
    export: createExport({ store, clock }),

    /** A memory by its id; `null` when it isn't there. */
    find,

    /** @throws AppError `memory_not_found` */
    async get(reach: Reach, id: string): Promise<Memory> {
      const memory = await find(reach, id);
      if (!memory) throw notFound(id);
      return memory;
    },

    /**
     * A memory with those that it superseded and that superseded it, the newest first.
     * @param from id of the first one of the page
     * @throws AppError `memory_not_found`, or `validation_failed` for a `from` that is not among them
     */
    async history(
      reach: Reach,
      id: string,
      { limit, from }: { limit: number; from?: string | undefined },
    ): Promise<{ memories: Memory[]; next: string | null }> {
      const [known] = MEMORY_ID.test(id) ? await findInOrder(store, reach, [id], clock()) : [];
      if (!known) throw notFound(id);
      return await store.use(reach.accountId, async ({ table }) => {
        const hidden = new Set<string>();
        const get = async (each: string) => {
          const [row] = await table.find([each]);
          if (row && !mayRead(reach, row)) hidden.add(row.id);
          return row ?? null;
        };
        // A page must not even begin with what is out of reach.
        const ids = (await historyOf(get, id)).filter((each) => !hidden.has(each));
        const start = from === undefined ? 0 : ids.indexOf(from);
        if (start < 0) throw noPlace();
        const rows = await inOrder(table, ids.slice(start, start + limit));
        const visible = readable(reach, { aliveAt: clock() });
        return {
          memories: rows.filter((row) => passes(visible, row)).map(toMemory),
          next: ids[start + limit] ?? null,
        };
      });
    },

    /** How much of a memory is left, and how fast it fades. */
    fading: ({ updated_at, ...memory }: Memory): Fading =>
      fadingOf({ ...memory, updatedAt: Date.parse(updated_at) }, clock(), decay),

    /** How many memories a filter lets pass, those included that have been superseded. */
    count: (reach: Reach, filter: Filter): Promise<number> =>
      store.use(reach.accountId, async ({ table }) => {
        const visible = readable(reach, { ...filter, aliveAt: clock() });
        return await table.count(visible);
      }),

    /** What an account has, in figures. */
    async stats(reach: Reach): Promise<Stats> {
      const figures = await store.use(reach.accountId, ({ table }) => survey(table, reach));
      // Of a part of the files, nobody knows the size.
      return { ...figures, bytes: reach.bound ? null : await store.bytes(reach.accountId) };
    },

    /**
     * Where the memories that are true now are in a plane; the first time after a change it takes seconds.
     * @param version of a map that will do although memories have changed since, if it is still there
     * @throws AppError `unavailable` when it can't be drawn
     */
    map: (reach: Reach, version: string | null = null): Promise<MemoryMap> =>
      drawMap(reach, (task) => store.use(reach.accountId, ({ table }) => task(table)), version),

    /** Memories by their ids, in this order, without those that aren't there. */
    some: async (reach: Reach, ids: readonly string[]): Promise<Memory[]> =>
      (await findInOrder(store, reach, ids, clock())).map(toMemory),

    /** Another text after each change of an account's memories, whichever server made it. */
    position: ({ accountId }: Reach): Promise<string> => store.position(accountId),

    /** Bytes on disk of an account's memories. */
    bytes: (accountId: string): Promise<number> => store.bytes(accountId),

    /** What an account keeps, as quotas count it. */
    usage: (accountId: string): Promise<Usage> => store.usage(accountId),
  };
}

/** What was found, with what made it match. A hundred long texts take a while: others have their turn. */
async function toFound(
  { hits, terms }: SearchResult,
  { query }: Pick<SearchRequest, "query">,
): Promise<FoundMemory[]> {
  const match = createMatcher(terms.length > 0 ? terms : termsOf(query));
  const turn = createTurns();
  const memories: FoundMemory[] = [];
  for (const { memory, score, newer, explanation, nearest } of hits) {
    memories.push({
      ...toMemory(memory),
      ...{ score, matched: match(memory.content, nearest) },
      ...(newer !== undefined && { newer }),
      ...(explanation && { explanation }),
    });
    await turn();
  }
  return memories;
}

/**
 * Memories by id, in the order of the ids; those that aren't there, or may not be read, are left out.
 * @param now milliseconds since 1970
 */
export async function findInOrder(
  store: Pick<Store, "use">,
  reach: Reach,
  ids: readonly string[],
  now: number,
): Promise<MemoryRow[]> {
  const rows = await store.use(reach.accountId, ({ table }) => inOrder(table, ids));
  const visible = readable(reach, { aliveAt: now });
  return rows.filter((row) => passes(visible, row));
}

/** Memories by id, in the order of the ids; those that aren't there are left out. */
export async function inOrder(
  table: Pick<MemoryTable, "find">,
  ids: readonly string[],
): Promise<MemoryRow[]> {
  const rows = await table.find(ids);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function noPlace() {
  const message = "must be the next_cursor of a page of this history, as it is now";
  return new AppError("validation_failed", `The cursor ${message}.`, {
    details: [{ path: "/cursor", message }],
  });
}

/** What is said of a memory that isn't there. */
export function notFound(id: string) {
  // What a client sent is repeated to it only where it has the shape of an id.
  const which = MEMORY_ID.test(id) ? `id ${id}` : "this id";
  return new AppError("memory_not_found", `No memory with ${which} in this account.`);
}
