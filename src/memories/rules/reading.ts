import type { Decay } from "../../config/config.ts";
import { createReadinessCheck } from "../../embedding/embedder.ts";
import type { Reach } from "../../keys/reach.ts";
import { createPause } from "../../timing/pause.ts";
import { createMatcher } from "../matched/passage.ts";
import type { Filter } from "../model/filter.ts";
import type { FoundMemory } from "../model/found-memory.ts";
import { MEMORY_ID, type Memory, type Similar } from "../model/memory.ts";
import type { Usage } from "../model/quota.ts";
import { readable } from "../model/reach.ts";
import type { SearchMode } from "../ranking/question.ts";
import { type Fading, fadingOf } from "../ranking/retention.ts";
import type { OpenTable } from "../store/pooled-table.ts";
import type { Store } from "../store/store.ts";
import { createExport, createHistory, createListing, type TimesFound } from "./listing.ts";
import { createMaps, type MemoryMap } from "./map.ts";
import { type SearchRequest, type SearchResult, searchTable } from "./search.ts";
import { findSimilar } from "./similar.ts";
import { createStats, type Stats } from "./stats.ts";
import { uniteTables } from "./united-tables.ts";
import {
  findable,
  findVisible,
  markChanged,
  notFound,
  type Parts,
  toVisibleMemories,
} from "./visible.ts";

/** Returns a function that searches memories. */
function createSearch({ store, clock, decay }: Parts & { decay: Decay }) {
  const isModelAtHand = createReadinessCheck();

  /**
   * The memories that answer a query, best first, the period that it names, and the mode that was used: a hybrid
   * search compares words alone while the model is being loaded.
   * @param others where the search looks too
   */
  return async (
    reach: Reach,
    { mode: wanted = "hybrid", ...request }: SearchRequest,
    others: readonly Reach[] = [],
  ): Promise<{ memories: FoundMemory[]; mode: SearchMode; period: SearchResult["period"] }> => {
    const filter = findable(reach, request.filter, clock());
    const reaches = [reach, ...others] as const;
    const { found, visible, mode } = await useAll(store, reaches, async (opened) => {
      const [{ table, embedder }] = opened;
      const isWithoutModel = wanted === "hybrid" && !(await isModelAtHand(embedder));
      const mode = isWithoutModel ? "keyword" : wanted;
      const embedQuery = (text: string) => embedder.embedQuery(text, reach);
      const asked = { ...request, filter, mode };
      const moment = { now: filter.knownAt ?? clock(), decay };
      const tables = opened.map((each) => each.table);
      const united = others.length === 0 ? null : uniteTables(tables);
      const found = await searchTable(united ?? table, { ...embedder, embedQuery }, asked, moment);
      const visible = new Map<string, Memory>();
      const rows = found.hits.map(({ memory }) => memory);
      for (const [at, own] of Map.groupBy(rows, ({ id }) => united?.ownerOf(id) ?? 0)) {
        const memories = await toVisibleMemories(tables[at] ?? table, reaches[at] ?? reach, own);
        for (const memory of memories) visible.set(memory.id, memory);
      }
      return { found, visible, mode };
    });
    const memories = markChanged(await toFound(found, visible), filter);
    return { memories, mode, period: found.period };
  };
}

const hasAny = (list: readonly Reach[]): list is readonly [Reach, ...Reach[]] => list.length > 0;

/** Runs a task with the tables of several accounts. */
function useAll<Result>(
  store: Pick<Store, "use">,
  [{ accountId }, ...others]: readonly [Reach, ...Reach[]],
  task: (opened: readonly [OpenTable, ...OpenTable[]]) => Promise<Result>,
): Promise<Result> {
  return store.use(accountId, (first) =>
    hasAny(others) ? useAll(store, others, (opened) => task([first, ...opened])) : task([first]),
  );
}

export type Reading = ReturnType<typeof createReading>;

/** Finding and reading memories; see `createMemories`. */
export function createReading({
  store,
  clock,
  decay,
  timesFound,
}: {
  store: Pick<Store, "use" | "bytes" | "usage" | "position">;
  clock: () => number;
  decay: Decay;
  timesFound: TimesFound;
}) {
  const countStats = createStats({ clock, decay });
  const drawMap = createMaps({ clock });
  const search = createSearch({ store, clock, decay });

  const find = async (reach: Reach, id: string): Promise<Memory | null> => {
    const [memory] = MEMORY_ID.test(id) ? await findVisible(store, reach, [id], clock()) : [];
    return memory ?? null;
  };

  return {
    search,

    /** How many memories of other projects answer a query that a project's memories don't; at most `limit`. */
    async countElsewhere(reach: Reach, request: SearchRequest): Promise<number> {
      const { projects: _, ...filter } = request.filter;
      return (await search(reach, { ...request, filter, known: true })).memories.length;
    },

    /**
     * Memories that say nearly the same as a memory that was just saved, or that it may have outdated. Empty
     * when they can't be read: the memory is saved all the same.
     */
    async similar(reach: Reach, id: string): Promise<Similar[]> {
      const find = store.use(reach.accountId, async ({ table, embedder }) => {
        const [memory] = await table.find([id]);
        if (!memory) return [];
        // A memory outdates none of other projects.
        const projects = [memory.project, null];
        // Captured memories are not superseded: nobody chose to keep them.
        const filter = { projects, isCaptured: false, aliveAt: clock() };
        return findSimilar({ table, embedder }, id, readable(reach, filter));
      });
      return await find.catch(() => []);
    },

    /** A page of memories, newest first. */
    list: createListing({ store, clock, timesFound }),

    /** All memories, oldest first; see `createExport`. */
    export: createExport({ store, clock }),

    /** A memory by its id; `null` when there is none. */
    find,

    /** @throws AppError `memory_not_found` */
    async get(reach: Reach, id: string): Promise<Memory> {
      const memory = await find(reach, id);
      if (!memory) throw notFound(id);
      return memory;
    },

    /** A page of a memory's history. */
    history: createHistory({ store, clock }),

    /** A memory's retention, and how fast it fades. */
    fading: ({ created_at, updated_at, ...memory }: Memory): Fading => {
      const [createdAt, updatedAt] = [Date.parse(created_at), Date.parse(updated_at)];
      return fadingOf({ ...memory, createdAt, updatedAt }, clock(), decay);
    },

    /** The number of memories that match a filter, superseded ones included. */
    count: (reach: Reach, filter: Filter): Promise<number> =>
      store.use(reach.accountId, async ({ table }) => {
        return await table.count(findable(reach, filter, clock()));
      }),

    /** Statistics of an account's memories. */
    async stats(reach: Reach): Promise<Stats> {
      const figures = await store.use(reach.accountId, ({ table }) => countStats(table, reach));
      // The size on disk is known of whole accounts only.
      return { ...figures, bytes: reach.bound ? null : await store.bytes(reach.accountId) };
    },

    /**
     * Current memories as points of a plane. The first call after a change takes seconds.
     * @param version of an earlier map that is good enough, if it is still kept
     * @throws AppError `unavailable` when it can't be drawn
     */
    map: (reach: Reach, version: string | null = null): Promise<MemoryMap> =>
      drawMap(reach, (task) => store.use(reach.accountId, ({ table }) => task(table)), version),

    /** Memories by id, in this order; missing ones are left out. */
    byIds: (reach: Reach, ids: readonly string[]): Promise<Memory[]> =>
      findVisible(store, reach, ids, clock()),

    /** A text that differs after each change of an account's memories, whichever server made it. */
    position: ({ accountId }: Reach): Promise<string> => store.position(accountId),

    /** Bytes on disk of an account's memories. */
    bytes: (accountId: string): Promise<number> => store.bytes(accountId),

    /** What an account keeps, as quotas count it. */
    usage: (accountId: string): Promise<Usage> => store.usage(accountId),
  };
}

/** Adds the matched passages. A hundred long texts take a while: other requests run between them. */
async function toFound(
  { hits, terms }: SearchResult,
  visible: ReadonlyMap<string, Memory>,
): Promise<FoundMemory[]> {
  const match = createMatcher(terms);
  const pause = createPause();
  const memories: FoundMemory[] = [];
  for (const { memory: row, nearest, ...marks } of hits) {
    const memory = visible.get(row.id);
    if (memory) memories.push({ ...memory, matched: match(memory.content, nearest), ...marks });
    await pause();
  }
  return memories;
}
