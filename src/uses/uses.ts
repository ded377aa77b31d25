import type { StoreParts } from "../db/database.ts";
import { AppError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { MemoryRow } from "../memories/model/rows.ts";
import type { Store } from "../memories/store/store.ts";
import { createDelayed } from "../timing/loop.ts";
import { createPause } from "../timing/pause.ts";
import { addCounts, addUse, type Use, type UseCounts } from "./use-counts.ts";
import { createUseStore, type MemoryUse } from "./use-store.ts";

/** Milliseconds between a use and its write to the database, also after a write that failed. */
const WRITE_DELAY_MS = 10_000;
/** Memories whose uses wait at most. Those of further ones are not counted. */
const MAX_PENDING = 20_000;
/** Memories that one transaction writes. */
const BATCH = 100;

export type Uses = ReturnType<typeof createUses>;

/**
 * Counts how often memories are found, recalled and used. `record` only counts in the server's memory; the counts are
 * written together some seconds later. A `kill -9` loses those seconds. Opening a memory on another server than the one
 * that found it counts only after that one has written.
 */
export function createUses({
  db,
  store,
  clock,
  log,
}: StoreParts & { store: Pick<Store, "use" | "position">; log: Log }) {
  const useStore = createUseStore({ db });
  /** By the accounts in which the memories may be, and their ids. */
  let pending = new Map<string, Map<string, UseCounts>>();
  let size = 0;
  let isClosed = false;

  const count = (place: string, id: string, change: (known?: UseCounts) => UseCounts): void => {
    const counts = pending.get(place) ?? new Map<string, UseCounts>();
    const known = counts.get(id);
    if (known === undefined && size >= MAX_PENDING) return;
    if (known === undefined) size++;
    counts.set(id, change(known));
    pending.set(place, counts);
  };

  const rowsOf = async (accountId: string, ids: readonly string[]): Promise<MemoryRow[]> => {
    try {
      return await store.use(accountId, ({ table }) => table.find(ids));
    } catch (error) {
      // The account was removed meanwhile.
      if (error instanceof AppError && error.code === "not_found") return [];
      throw error;
    }
  };

  /** A memory that was removed before its uses were written must not keep them. */
  const forgetRemoved = async (accountId: string, ids: readonly string[]): Promise<void> => {
    const left = new Set((await rowsOf(accountId, ids)).map(({ id }) => id));
    const gone = ids.filter((id) => !left.has(id));
    if (gone.length > 0) await useStore.forget(accountId, gone);
  };

  /** Writes the uses of the memories that an account has. @returns whether they are written, and which ones */
  const writeOwn = async (accountId: string, counts: ReadonlyMap<string, UseCounts>) => {
    const position = await store.position(accountId);
    const uses = (await rowsOf(accountId, [...counts.keys()])).flatMap((row): MemoryUse[] => {
      const own = counts.get(row.id);
      return own ? [{ row, counts: own }] : [];
    });
    const ids = uses.map(({ row }) => row.id);
    if (ids.length === 0) return ids;
    if (!(await db.attempt((tx) => useStore.add(tx, accountId, uses)))) return null;
    try {
      if ((await store.position(accountId)) !== position) await forgetRemoved(accountId, ids);
    } catch (error) {
      // The uses are written. They must not be written again.
      log.warn("uses_remain", { cause: String(error) });
    }
    return ids;
  };

  /** @returns the uses that could not be written */
  const writeBatch = async (place: string, batch: [string, UseCounts][]) => {
    const waiting = new Map(batch);
    try {
      for (const accountId of place.split(" ")) {
        if (waiting.size === 0) break;
        const written = await writeOwn(accountId, waiting);
        if (written === null) return waiting;
        for (const id of written) waiting.delete(id);
      }
      // The others were removed meanwhile.
      return new Map<string, UseCounts>();
    } catch (error) {
      log.warn("uses_wait", { cause: String(error) });
      return waiting;
    }
  };

  const writing = createDelayed(async () => {
    const places = [...pending];
    pending = new Map();
    size = 0;
    const pause = createPause();
    for (const [place, counts] of places) {
      const all = [...counts];
      for (let from = 0; from < all.length; from += BATCH) {
        const unwritten = await writeBatch(place, all.slice(from, from + BATCH));
        for (const [id, own] of unwritten) {
          count(place, id, (known) => (known ? addCounts(own, known) : own));
        }
        await pause();
      }
    }
    if (pending.size > 0 && !isClosed) writing.within(WRITE_DELAY_MS);
  });

  return {
    /**
     * Counts uses. Never throws and never waits.
     * @param accountIds where the memories may be: each is counted in the first one that has it
     */
    record(use: Use, accountIds: readonly string[], ids: readonly string[]): void {
      if (isClosed || ids.length === 0) return;
      const place = accountIds.join(" ");
      const at = clock();
      for (const id of ids) count(place, id, (known) => addUse(known, use, at));
      writing.within(WRITE_DELAY_MS);
    },

    flush: writing.now,

    /** Writes the pending uses. Call this before the store is closed. */
    async close(): Promise<void> {
      isClosed = true;
      await writing.now();
    },

    since: useStore.since,
    timesFound: useStore.timesFound,
    of: useStore.of,
    /** See `UseStore`; null while the account counts nothing. */
    async ofUse(accountId: string, from: number) {
      const since = await useStore.since(accountId);
      return since === null ? null : await useStore.ofUse(accountId, from);
    },

    /** Counts uses from now on, or stops and deletes the counts. */
    async keep(accountId: string, isKept: boolean): Promise<void> {
      await useStore.setSince(accountId, isKept ? new Date(clock()) : null);
    },

    /**
     * Ids of current memories that are older than a time and were not found, recalled or used since; null as
     * long as the account has not counted since that time. Pinned memories are left out.
     * @param before milliseconds since 1970
     */
    async neverFound(accountId: string, before: number): Promise<string[] | null> {
      const since = await useStore.since(accountId);
      if (since === null || since.getTime() > before) return null;
      const filter = { createdBefore: before, isCurrent: true, isPinned: false, aliveAt: clock() };
      const old = await store.use(accountId, ({ table }) => table.select(filter));
      if (old.length === 0) return old;
      const used = await useStore.usedSince(accountId, before);
      return old.filter((id) => !used.has(id));
    },
  };
}
