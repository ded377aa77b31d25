import { dirname, join } from "node:path";
import type * as LanceDb from "@lancedb/lancedb";
import { LRUCache } from "lru-cache";
import type { Embedders } from "../embedding/embedders.ts";
import { AppError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Outcome } from "./draft.ts";
import type { Journal } from "./journal.ts";
import { createKeeper, type Debts, type Due, type Keeper } from "./keeper.ts";
import type { Quota } from "./quota.ts";
import { openOrSetAside, replayJournal, rollBackFiles } from "./recovery.ts";
import { createRowCache, type FormerRows } from "./row-cache.ts";
import { atMost, newSlot, type OpenTable, type Slot, whenLeft } from "./slot.ts";
import { measureStore } from "./store-metrics.ts";
import { openTable } from "./table.ts";
import { sync, tryDisk } from "./table-files.ts";
import { startUpkeep } from "./upkeep.ts";
import { watchNewFiles } from "./whole-files.ts";
import { createWriter, WriterEnded } from "./writer.ts";

/** The tables by their names, each opened when it is used. */
export interface OpenTables {
  /**
   * Resolves when a table is open, or there is room for one more.
   * @param patience milliseconds
   * @throws AppError `unavailable` when it lasts too long
   */
  room(name: string, patience?: number): Promise<void>;
  /**
   * Runs `task` on a table, which is made when it isn't there and stays open meanwhile.
   * @throws WriterEnded when the table is being removed or replaced, once that is done
   */
  use<Result>(name: string, task: (open: OpenTable) => Promise<Result>): Promise<Result>;
  /**
   * Runs a task when the last commit of a table is done, and no other comes until the task has
   * ended. If it succeeds the table is closed, and this resolves when its last user has left.
   */
  replace(name: string, task: () => Promise<void>): Promise<void>;
  /** Closes tables, and runs a task when nothing uses them. */
  end(isEnding: (name: string) => boolean, task: () => Promise<void>): Promise<void>;
  /** Seconds since the oldest change that upkeep has not seen to. */
  lag(): number;
  /** Ends the upkeep and leaves everything on the disk. */
  close(): Promise<void>;
}

/** Bytes of LanceDB's caches for all tables together; its own defaults are 6 GiB and 1 GiB. */
const INDEX_CACHE = 96n << 20n;
const METADATA_CACHE = 32n << 20n;
/**
 * Bytes of memory for the rows that searches have read, some 110,000 memories with their vectors, and
 * for what they look for in them, of some 150,000.
 */
const ROOM = 224 << 20;
/** Tables that stay open when nobody uses them: one of 100 memories takes 1 to 2 MB. */
const MAX_UNUSED = 64;
/**
 * Tables that are open at the same time. What was written to a table must be on the disk before it is
 * closed: when there are so many, another one is opened as soon as one of them is closed.
 */
const MAX_OPEN = 2 * MAX_UNUSED;
/** Milliseconds that a request waits for that, and between looks. */
const ROOM_TIMEOUT = 10_000;
const ROOM_AGAIN = 50;
/** Tables that were closed since LanceDB's caches are new: what it has of them is of no more use. */
const MOST_CLOSED = MAX_UNUSED;
/**
 * Tables that were closed since their garbage was collected. Left alone, the engine lets it grow until
 * it is as much as all that is in use: 200 MB more when 1,000 accounts take turns.
 */
const MOST_UNCOLLECTED = 32;
/** It is not collected again for so many times as long as that took: 60 ms with 64 tables open. */
const COLLECTION_REST = 15;
/** Tables whose rows stay in memory while they are closed. */
const MOST_LEFT = 8;
/** Milliseconds that a table waits for its users before it goes on with the old caches. */
const LEAVE_TIMEOUT = 5_000;

/** Opens the tables in a folder that is there. One process at a time. */
export async function openTables({
  lancedb,
  folder,
  embedders,
  journal,
  log,
  metrics,
  due,
  quotaOf,
  onCommit,
  room = ROOM,
}: {
  lancedb: typeof LanceDb;
  folder: string;
  embedders: Embedders;
  journal: Journal;
  log: Log;
  metrics: Metrics;
  due: Due;
  /** What a table may hold; null for all. */
  quotaOf: (name: string) => Quota | null;
  /** Is told of every commit of every table. */
  onCommit: (name: string, outcome: Outcome) => void;
  room?: number | undefined;
}): Promise<OpenTables> {
  const connect = () =>
    lancedb.connect(folder, {}, new lancedb.Session(INDEX_CACHE, METADATA_CACHE));
  let connection = await connect();
  /** The one before, which holds its caches until it is closed. */
  let former: LanceDb.Connection | null = null;
  let chores = 0;
  let closed = 0;
  let uncollected = 0;
  let collectAgain = 0;
  const lookups = { hits: 0, misses: 0 };
  const cache = createRowCache(room, room, lookups);
  /** In the order of last use. */
  const slots = new Map<string, Slot>();
  /** Those that use the caches of a former connection. */
  const outdated = new WeakSet<Slot>();
  /** Those whose rows were let go since they were used. */
  const bare = new WeakSet<Slot>();
  /** Rows of tables that were closed for nothing but new caches. */
  const left = new LRUCache<string, Promise<FormerRows | null>>({
    max: MOST_LEFT,
    dispose: (former, _, reason) => {
      if (reason !== "delete") void former.then(letGo);
    },
  });
  /** What tables wait for that were closed. */
  const postponed = new Map<string, Debts>();
  const measured = measureStore(metrics, { journal, slots, lookups });
  /** Tables that this process has begun to open, and those that are what the journal says. */
  const begun = new Set<string>();
  const recovered = new Set<string>();
  // The folder may be new: a table that is on the disk is lost when its folder is not.
  for (const part of [folder, dirname(folder), dirname(dirname(folder))]) await sync(part);

  const takeLeft = async (name: string) => {
    const former = left.get(name);
    left.delete(name);
    return (await former) ?? null;
  };

  const open = async (name: string, slot: Slot, known?: Debts): Promise<OpenTable> => {
    const tableFolder = join(folder, `${name}.lance`);
    const isRecovered = recovered.has(name);
    const former = await takeLeft(name);
    if (!isRecovered) letGo(former);
    const openNow = () =>
      openTable(
        lancedb,
        connection,
        name,
        embedders.wanted.model,
        cache,
        isRecovered ? former : null,
      );
    const hasCheckpoint = journal.checkpoint(name) !== null;
    const dirtySince = journal.lastSeq(name) > 0 ? performance.now() : null;
    const recovery = { name, folder: tableFolder, journal, open: openNow, log };
    if (!isRecovered) {
      await rollBackFiles(recovery);
      // LanceDB remembers versions by their numbers, and these come again.
      if (begun.has(name)) connection = await connect();
      begun.add(name);
    }
    const table = hasCheckpoint ? await openNow() : await openOrSetAside(recovery);
    const embedder = embedders.of(table.model);
    const newFiles = watchNewFiles(tableFolder);
    if (!isRecovered) {
      await replayJournal(table, recovery);
      newFiles.requireWhole();
    }

    const writer = createWriter({
      table: {
        ...table,
        async write(rows, outcome) {
          await table.write(rows, outcome);
          newFiles.requireWhole();
        },
      },
      journal: { append: (entry) => journal.append(name, entry), cancel: journal.cancel },
      quotaOf: () => quotaOf(name),
      onCommit(outcome) {
        slot.keeper?.noteCommit(outcome);
        measured.onCommit(outcome);
        onCommit(name, outcome);
      },
    });
    const keeper = createKeeper({
      name,
      folder: tableFolder,
      table,
      writer,
      journal,
      due,
      debts: known ??
        postponed.get(name) ?? {
          dirtySince,
          remainsSince: journal.checkpoint(name)?.hasRemains ? performance.now() : dirtySince,
          commits: 0,
          isDamaged: false,
          retryAt: 0,
        },
      recover: () => recover(name, slot),
    });
    // What a crash leaves of a new table must be something to come back to.
    if (!hasCheckpoint) await keeper.run("checkpoint");
    recovered.add(name);
    postponed.delete(name);
    slot.keeper = keeper;
    return { table, writer, embedder };
  };

  /**
   * Closes a table that can do without upkeep. A second handle would not see the first one's writes:
   * one in use is never closed.
   * @param isOutdated it is closed for nothing but new caches
   */
  const closeIfUnused = (
    name: string,
    { users, keeper, opened }: Slot,
    isOutdated = false,
  ): boolean => {
    if (users > 0 || !keeper?.canRest()) return false;
    slots.delete(name);
    closed++;
    uncollected++;
    if (!keeper.isIdle()) postponed.set(name, keeper.debts());
    if (!isOutdated) void opened.then(({ table }) => table.close());
    else
      left.set(
        name,
        opened.then(({ table }) => table.leave()).catch(() => null),
      );
    return true;
  };

  const collectGarbage = () => {
    const started = performance.now();
    if (uncollected < MOST_UNCOLLECTED || started < collectAgain) return;
    uncollected = 0;
    Bun.gc(true);
    collectAgain = started + (1 + COLLECTION_REST) * (performance.now() - started);
  };

  /** What waits for upkeep stays open, without what takes most of the memory. */
  const closeLeastUsed = () => {
    collectGarbage();
    let excess = slots.size - MAX_UNUSED;
    for (const [name, slot] of slots) {
      if (excess-- <= 0) return;
      if (closeIfUnused(name, slot) || slot.users > 0 || bare.has(slot) || !slot.keeper) continue;
      bare.add(slot);
      void slot.opened.then(({ table }) => table.forgetRows()).catch(() => {});
    }
  };

  const slotOf = (name: string): Slot => {
    const known = slots.get(name);
    if (known) {
      slots.delete(name);
      slots.set(name, known);
      bare.delete(known);
      return known;
    }
    const slot = newSlot((slot) => open(name, slot));
    slots.set(name, slot);
    return slot;
  };

  /** Has tables that are opened from now on use empty caches. */
  const renew = async () => {
    // A table may just be being opened with it: the one before is closed.
    former?.close();
    former = connection;
    connection = await connect();
    [chores, closed] = [0, 0];
    for (const slot of slots.values()) outdated.add(slot);
  };

  /**
   * Closes tables that use former caches and have nothing to do. Of the others each is opened anew
   * after a chore of its own, if it is not at rest then: all at once would be in everybody's way. No
   * chore may run.
   */
  const leaveFormerCaches = (names: readonly string[]) => {
    for (const [name, slot] of [...slots]) {
      if (!outdated.has(slot) || !slot.keeper || closeIfUnused(name, slot, true)) continue;
      if (names.includes(name) && !slot.keeper.debts().isDamaged)
        slots.set(name, successor(name, slot, slot.keeper));
    }
    if ([...slots.values()].some((slot) => outdated.has(slot))) return;
    // Tens of MB, which would be kept until the next time.
    former?.close();
    former = null;
  };

  /** A slot that takes over. When it can't, the table stays open as it is. */
  const successor = (name: string, former: Slot, keeper: Keeper): Slot => {
    const reopen = async (slot: Slot) => {
      const table = await former.opened;
      try {
        if (former.users > 0) await atMost(LEAVE_TIMEOUT, whenLeft(former));
        // What another handle can't undo.
        await table.writer.pause(async () => {});
        left.set(
          name,
          table.table.handOver().catch(() => null),
        );
        return await open(name, slot, keeper.debts());
      } catch (error) {
        log.warn("table_not_renewed", { name, cause: String(error) });
        slot.keeper = keeper;
        return table;
      }
    };
    return newSlot(reopen);
  };

  /** Opens a table as a restart would. Whoever comes meanwhile waits. No other chore may run. */
  const recover = async (name: string, former: Slot) => {
    const present = slots.get(name);
    let isPresent = false;
    await tryDisk(folder);
    const { writer, table } = await former.opened;
    await writer.pause(async () => {});
    const reopen = async (slot: Slot) => {
      if (former.users > 0) await atMost(LEAVE_TIMEOUT, whenLeft(former)).catch(() => {});
      table.forgetRows();
      recovered.delete(name);
      const debts = former.keeper?.debts();
      return await open(name, slot, debts && { ...debts, isDamaged: false });
    };
    await endWrites(former, async () => {
      if (!writer.isSettled()) throw new Error("a failed write is not undone yet");
      isPresent = slots.get(name) === present;
      if (isPresent) slots.set(name, newSlot(reopen));
    });
    if (!isPresent) throw new Error("it was opened by a request");
    const slot = slots.get(name);
    await slot?.opened.catch((error) => {
      // Tried again also when nobody asks for it: what was deleted must leave its files.
      slot.keeper = former.keeper;
      throw error;
    });
  };

  const use: OpenTables["use"] = async (name, task) => {
    const slot = slotOf(name);
    slot.users++;
    closeLeastUsed();
    try {
      return await task(await slot.opened);
    } catch (error) {
      // A table that could not be opened is tried again by the next request, or by its keeper.
      const isGivenUp = () => slots.get(name) === slot && !slot.keeper;
      await slot.opened.catch(() => isGivenUp() && slots.delete(name));
      if (error instanceof WriterEnded) await slot.ending;
      throw error;
    } finally {
      slot.users--;
      if (slot.users === 0) slot.onLeft?.();
    }
  };

  const upkeep = startUpkeep({
    kept: () => {
      const excess = slots.size - MAX_UNUSED;
      return [...slots].flatMap(([name, { keeper, users }], index) =>
        keeper ? { name, keeper, isInExcess: index < excess && users === 0 } : [],
      );
    },
    async afterChores(jobs) {
      const names = jobs.filter(({ chore }) => chore !== "checkpoint").map(({ name }) => name);
      chores += names.length;
      const isAtRest = [...slots.values()].every(({ keeper }) => keeper?.isIdle() ?? false);
      const most = isAtRest ? due.renewAfterAtRest : Math.max(due.renewAfter, slots.size);
      if (chores >= most || closed >= MOST_CLOSED) await renew();
      leaveFormerCaches(names);
      closeLeastUsed();
    },
    log,
    metrics,
  });

  const endWrites = async (slot: Slot, task: () => Promise<void>) => {
    const open = await slot.opened.catch(() => null);
    const ending = open ? open.writer.end(task) : task();
    slot.ending = ending.catch(() => {});
    await ending;
  };

  return {
    use,
    lag: measured.lag,

    async room(name, patience = ROOM_TIMEOUT) {
      const end = performance.now() + patience;
      while (slots.size >= MAX_OPEN && !slots.has(name)) {
        closeLeastUsed();
        if (slots.size < MAX_OPEN) return;
        if (performance.now() > end) {
          const message = "Too many accounts are busy at the same time. Try again in a moment.";
          throw new AppError("unavailable", message, { retryAfter: 5 });
        }
        await Bun.sleep(ROOM_AGAIN);
      }
    },

    async replace(name, task) {
      const slot = await upkeep.pause(async () => {
        const slot = slotOf(name);
        const { writer } = await slot.opened;
        await endWrites(slot, async () => {
          if (!writer.isSettled()) throw new Error("a failed write is not undone yet");
          await task();
          slots.delete(name);
        });
        return slot;
      });
      if (slot.users > 0) await whenLeft(slot);
      void slot.opened.then(({ table }) => table.close());
    },

    async end(isEnding, task) {
      // A request that began before may still want to write.
      const ending = [...slots].filter(([name]) => isEnding(name));
      for (const [name] of ending) slots.delete(name);
      for (const name of [...left.keys()].filter(isEnding)) void takeLeft(name).then(letGo);
      await upkeep.pause(async () => {
        for (const [, slot] of ending) await endWrites(slot, async () => {});
        await task();
      });
    },

    async close() {
      await upkeep.stop();
      for (const [name, { opened, keeper }] of slots) {
        const isOpen = await opened.then(
          () => true,
          () => false,
        );
        if (!isOpen || !keeper || keeper.isIdle()) continue;
        await keeper
          .run("checkpoint")
          .catch((error) => log.error("checkpoint_failed", { table: name, cause: String(error) }));
      }
      connection.close();
    },
  };
}

function letGo(former: FormerRows | null): void {
  former?.rows.clear();
}
