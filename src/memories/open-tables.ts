import type { Embedder } from "../embedding/embedder.ts";
import type { Embedders } from "../embedding/embedders.ts";
import { AppError } from "../errors.ts";
import type { Log as Lines } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Due } from "./due.ts";
import { createFlush, type Flush } from "./flush.ts";
import { createGarbageCollection } from "./garbage-collection.ts";
import type { Outcome } from "./log/pending.ts";
import type { Lease, TableHead } from "./log/shared-log.ts";
import { openTable } from "./open-table.ts";
import { createPool, type PoolItem } from "./pool.ts";
import type { QuotaOf } from "./quota.ts";
import { openSharedTable } from "./shared/open-shared-table.ts";
import { createReplay } from "./shared/replay.ts";
import type { Storage } from "./storage.ts";
import type { KeptTable, MemoryTable } from "./table.ts";
import { startUpkeep } from "./upkeep.ts";
import { createWriter, type Writer, WriterEnded } from "./writer.ts";

export interface OpenTable {
  table: MemoryTable;
  writer: Writer;
  /** Of the model that the table's vectors are made by. */
  embedder: Embedder;
}

export type OpenTables = ReturnType<typeof createOpenTables>;

/** Seconds; 0 when nothing waits. */
export interface Lags {
  /** Since the oldest change that no base includes yet. */
  flush: number;
  /** Since the oldest deletion of something that is still in the files. */
  forgetting: number;
}

/**
 * Tables that stay open when nobody uses them, each of 100 memories taking some 500 kB: at least so many,
 * and as many for each GiB of room for views.
 */
const MAX_UNUSED = 48;
const GIB = 2 ** 30;
/**
 * Times as many tables are open at the same time at the most. What was written to a table must be flushed
 * before it is closed: when there are so many, another one is opened as soon as one of them is closed.
 */
const MORE_OPEN = 2;
/** Milliseconds that a request waits for that, and between looks. */
const ROOM_TIMEOUT = 10_000;
const ROOM_AGAIN = 50;
interface Opened extends OpenTable {
  table: KeptTable;
  flush: Flush;
  /** Resolves when what ends the table is done; null while nothing does. */
  ending: Promise<unknown> | null;
  /** The chore under way. */
  chore: Promise<void>;
}

interface Parts {
  storage: Storage;
  embedders: Embedders;
  /** What a table may hold; null for all. */
  quotaOf: QuotaOf;
  /** Receives every commit of every table, and of those of other processes. */
  onCommit: (table: MemoryTable, outcome: Outcome) => void;
  onReplay?: (table: MemoryTable, outcome: Outcome) => void;
  /** The lease under which a table is a copy of another one, where there are several processes. */
  leaseOf?: (name: string) => Lease | undefined;
  due: Due;
  /** Bytes of memory for all views together. */
  room: number;
  lines: Lines;
  metrics: Metrics;
}

/** The tables by their names, each opened when it is used. */
export function createOpenTables({ storage, embedders, due, room, ...parts }: Parts) {
  const mostUnused = Math.max(MAX_UNUSED, Math.floor((room / GIB) * MAX_UNUSED));
  const { quotaOf, onCommit, onReplay = () => {}, leaseOf = () => undefined } = parts;
  const { lines, metrics } = parts;
  const { shared } = storage.log;
  const opened = (): Opened[] => slots.all().flatMap(({ now }) => now ?? []);
  const viewBytes = () => opened().reduce((sum, { table }) => sum + table.viewBytes, 0);
  const makeRoom = (bytes: number) => {
    closeUnused(viewBytes() + bytes - room);
    return viewBytes() + bytes <= room;
  };

  const collectGarbage = createGarbageCollection();
  const slots = createPool<Opened>({
    async open(name) {
      const options = {
        ...{ storage, wanted: embedders.wanted.model },
        ...{ largeRows: due.largeRows, room: { bytes: room, make: makeRoom } },
      };
      const table: KeptTable = shared
        ? await openSharedTable(name, options, shared)
        : await openTable(name, options);
      const sharing = shared && {
        replay: createReplay({
          ...{ table, log: shared, codec: storage.codec },
          onReplay: (outcome) => onReplay(table, outcome),
        }),
        lease: () => leaseOf(name),
      };
      const writer = createWriter({
        ...{ table, log: storage.log, sharing: sharing ?? null },
        quotaOf: () => quotaOf(name),
        onCommit: (outcome) => onCommit(table, outcome),
      });
      const flush = createFlush({ table, ...storage, due });
      const embedder = embedders.of(table.model);
      return { table, writer, embedder, flush, ending: null, chore: Promise.resolve() };
    },
    async close({ table }) {
      table.view.close();
      await table.base.replace(null);
      collectGarbage();
    },
  });

  /** Closes the least recently used: all beyond those that may stay, and as many as have so many bytes. */
  const closeUnused = (bytes = 0) => {
    let [excess, left] = [slots.size - mostUnused, bytes];
    // Every request asks.
    if (excess <= 0 && left <= 0) return;
    for (const slot of slots.all()) {
      if (excess-- <= 0 && left <= 0) return;
      if (!isUnused(slot)) continue;
      left -= slot.now?.table.viewBytes ?? 0;
      slots.end(slot);
    }
  };

  const doChore = (slot: PoolItem<Opened>, open: Opened, task: () => Promise<void>) => {
    slots.hold(slot);
    open.chore = task().finally(() => {
      if (open.flush.mustReopen) slots.end(slot);
      slots.leave(slot);
    });
    return open.chore;
  };

  /** Where the log has all, and any process can flush it, a table may be closed at any time. */
  const isUnused = (slot: PoolItem<Opened>) =>
    isLeft(slot) && (shared !== undefined || slot.now?.flush.isIdle() === true);

  const upkeep = startUpkeep({
    kept: () => {
      const all = slots.all();
      return all.flatMap((slot, index) => {
        const { name, now, users } = slot;
        if (!now || now.ending) return [];
        const hold = (task: () => Promise<void>) => doChore(slot, now, task);
        const isInExcess = !shared && index < all.length - mostUnused && users === 0;
        return { name, flush: now.flush, isInExcess, hold };
      });
    },
    afterChores: () => closeUnused(),
    ...{ lines, metrics },
  });

  return {
    /** All that are open. */
    opened: (): KeptTable[] => opened().map(({ table }) => table),
    /** How long upkeep has not seen to what it must, in open tables. */
    lags: (): Lags => ({
      flush: longestSince(opened().map(({ table }) => table.pending.dirtySince)),
      forgetting: longestSince(opened().map(({ flush }) => flush.remainsSince())),
    }),

    /**
     * Runs `task` on a table, which stays open meanwhile.
     * @throws WriterEnded when the table is being removed or replaced, once that is done
     */
    async use<Result>(name: string, task: (open: OpenTable) => Promise<Result>): Promise<Result> {
      closeUnused();
      const end = performance.now() + ROOM_TIMEOUT;
      while (!slots.has(name) && slots.size >= MORE_OPEN * mostUnused) {
        if (performance.now() > end) throw tooManyBusy();
        await Bun.sleep(ROOM_AGAIN);
        closeUnused();
      }
      const slot = slots.enter(name);
      try {
        return await task(await slot.opened);
      } catch (error) {
        if (error instanceof WriterEnded && shared && !slot.now?.ending) slots.end(slot);
        else if (error instanceof WriterEnded) await slot.now?.ending;
        throw error;
      } finally {
        slots.leave(slot);
      }
    },

    /** Brings open tables up to date with the log, and closes those that are gone. */
    follow(asked: readonly string[], heads: ReadonlyMap<string, TableHead>): void {
      for (const name of asked) {
        const slot = slots.all().find((each) => each.name === name);
        if (!slot?.now) continue;
        const { table, writer, flush } = slot.now;
        const head = heads.get(name);
        if (!head && table.seq > 0) slots.end(slot);
        if (!head) continue;
        slots.hold(slot);
        writer
          .catchUp(head.seq)
          .then(() => flush.noteRecorded(head.checkpoint))
          .catch((error) => {
            if (error instanceof WriterEnded) slots.end(slot);
          })
          .finally(() => slots.leave(slot));
      }
    },

    /** Has a table flushed that nobody else has flushed in time. */
    async flushSoon(name: string): Promise<void> {
      const slot = slots.enter(name);
      try {
        (await slot.opened).flush.request();
      } finally {
        slots.leave(slot);
      }
    },

    /**
     * Runs a task when the last commit of a table is done, and no other comes until the task has
     * ended. If it succeeds, the table is closed, and this resolves when its last user has left.
     */
    async end(name: string, task: () => Promise<void>): Promise<void> {
      const slot = slots.enter(name);
      try {
        // One that can't be opened has no writes that could still come.
        const open = await slot.opened.catch(() => null);
        await (open ? endWrites(open, task) : task());
        slots.end(slot);
      } finally {
        slots.leave(slot);
      }
      await slot.closed.promise;
    },

    /** Ends the upkeep and writes what the log has into the bases, if no other process could. */
    async close(): Promise<void> {
      await upkeep.stop();
      for (const slot of slots.all()) {
        const open = await slot.opened.catch(() => null);
        if (!shared && open && !slot.hasEnded && !open.ending && !open.flush.isIdle()) {
          await doChore(slot, open, () => open.flush.run("flush")).catch((error) => {
            lines.error("flush_failed", { table: slot.name, cause: String(error) });
          });
        }
        slots.end(slot);
      }
    },
  };
}

function tooManyBusy() {
  const message = "Too many accounts are busy at the same time. Try again in a moment.";
  return new AppError("unavailable", message, { retryAfter: 5 });
}

async function endWrites(open: Opened, task: () => Promise<void>): Promise<void> {
  const ending = open.writer.end(task);
  open.ending = ending.then(() => open.chore).catch(() => {});
  try {
    await ending;
    await open.chore.catch(() => {});
  } catch (error) {
    open.ending = null;
    throw error;
  }
}

function isLeft({ users, now }: PoolItem<Opened>): boolean {
  return users === 0 && now !== null && !now.table.view.isFilling;
}

/** Seconds since the first of some moments of `performance.now()`; `null` is none. */
function longestSince(moments: readonly (number | null)[]): number {
  const now = performance.now();
  return (now - Math.min(now, ...moments.filter((moment) => moment !== null))) / 1_000;
}
