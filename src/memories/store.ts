import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type * as LanceDb from "@lancedb/lancedb";
import type { EmbeddingModel } from "../embedding/embedder.ts";
import { AppError } from "../errors.ts";
import type { Log } from "../log.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import { isDiskFull } from "./disk-full.ts";
import type { Journal } from "./journal.ts";
import { createKeeper, type Debts, DUE, type Due, type Keeper } from "./keeper.ts";
import { openOrSetAside, replayJournal, rollBackFiles } from "./recovery.ts";
import { createRowCache } from "./row-cache.ts";
import { measureStore } from "./store-metrics.ts";
import { type MemoryTable, openTable } from "./table.ts";
import { sizeOf, sync } from "./table-files.ts";
import { startUpkeep } from "./upkeep.ts";
import { createWriter, type Writer } from "./writer.ts";

/** The tables of all accounts, opened when they are used. */
export interface Store {
  /** Runs `task` on the account's table, which stays open meanwhile. */
  use<Result>(accountId: string, task: (open: OpenTable) => Promise<Result>): Promise<Result>;
  /** Removes an account's table with all that is in it, if there is one, and lets none be made. */
  drop(accountId: string): Promise<void>;
  /** Bytes on disk of an account's table, which need not be open. */
  bytes(accountId: string): Promise<number>;
  /** Accounts that have a table. */
  accounts(): Promise<string[]>;
  /** Ends the upkeep and leaves everything on the disk. */
  close(): Promise<void>;
}

export interface OpenTable {
  table: MemoryTable;
  writer: Writer;
}

/** A table that is open, or about to be. */
export interface Slot {
  opened: Promise<OpenTable>;
  keeper: Keeper | null;
  users: number;
  /** Called when the last user has left. */
  onLeft: (() => void) | null;
}

/** Bytes of LanceDB's caches for all tables together; its own defaults are 6 GiB and 1 GiB. */
const INDEX_CACHE = 224n << 20n;
const METADATA_CACHE = 32n << 20n;
/** Bytes of the rows that searches have read: some 75,000 memories with their vectors. */
const ROW_CACHE = 192 << 20;
const MAX_OPEN = 256;
/** Milliseconds that a table waits for its users before it goes on with the old caches. */
const LEAVE_TIMEOUT = 5_000;

/** Opens the store in a folder, which is made when it isn't there. One process at a time. */
export async function openStore({
  lancedb,
  folder,
  model,
  journal,
  log,
  metrics = createMetrics(),
  due = DUE,
}: {
  lancedb: typeof LanceDb;
  folder: string;
  model: EmbeddingModel;
  journal: Journal;
  log: Log;
  metrics?: Metrics;
  /** When upkeep is due. */
  due?: Due;
}): Promise<Store> {
  const connect = () =>
    lancedb.connect(folder, {}, new lancedb.Session(INDEX_CACHE, METADATA_CACHE));
  let connection = await connect();
  let chores = 0;
  const cache = createRowCache(ROW_CACHE);
  /** In the order of last use. */
  const slots = new Map<string, Slot>();
  const { onCommit } = measureStore(metrics, { journal, slots });
  /** Accounts whose tables this process has rolled back, and those that have the journal too. */
  const rolledBack = new Set<string>();
  const recovered = new Set<string>();
  const dropped = new Set<string>();
  // The folder may be new: a table that is on the disk is lost when its folder is not.
  for (const part of [folder, dirname(folder), dirname(dirname(folder))]) await sync(part);

  const open = async (accountId: string, slot: Slot, known?: Debts): Promise<OpenTable> => {
    const tableFolder = join(folder, `${accountId}.lance`);
    const openNow = () => openTable(lancedb, connection, accountId, model, cache);
    const hasCheckpoint = journal.checkpoint(accountId) !== null;
    const dirtySince = journal.lastSeq(accountId) > 0 ? performance.now() : null;
    const recovery = { accountId, folder: tableFolder, journal, open: openNow, log };
    if (!rolledBack.has(accountId)) await rollBackFiles(recovery);
    rolledBack.add(accountId);
    const table = hasCheckpoint ? await openNow() : await openOrSetAside(recovery);
    if (!recovered.has(accountId)) await replayJournal(table, recovery);
    recovered.add(accountId);

    const writer = createWriter({
      table,
      journal: { append: (entry) => journal.append(accountId, entry), cancel: journal.cancel },
      onCommit(outcome) {
        slot.keeper?.noteCommit(outcome);
        onCommit(outcome);
      },
    });
    const keeper = createKeeper({
      accountId,
      folder: tableFolder,
      table,
      writer,
      journal,
      due,
      debts: known ?? {
        dirtySince,
        remainsSince: journal.checkpoint(accountId)?.hasRemains ? performance.now() : dirtySince,
        commits: 0,
      },
    });
    // What a crash leaves of a new table must be something to come back to.
    if (!hasCheckpoint) await keeper.run("checkpoint");
    slot.keeper = keeper;
    return { table, writer };
  };

  /** A second handle would not see the first one's writes: a table in use is never closed. */
  const closeLeastUsed = () => {
    for (const [accountId, { users, keeper }] of slots) {
      if (slots.size <= MAX_OPEN) return;
      if (users === 0 && keeper?.isIdle()) slots.delete(accountId);
    }
  };

  const slotOf = (accountId: string): Slot => {
    const known = slots.get(accountId);
    if (known) {
      slots.delete(accountId);
      slots.set(accountId, known);
      return known;
    }
    const slot: Slot = {
      opened: Promise.resolve()
        .then(() => open(accountId, slot))
        .catch((error) => {
          throw unopened(error);
        }),
      keeper: null,
      users: 0,
      onLeft: null,
    };
    slots.set(accountId, slot);
    return slot;
  };

  /** Opens all tables anew with empty caches: each as soon as nobody uses it. No chore may run. */
  const renew = async () => {
    connection = await connect();
    for (const [accountId, slot] of [...slots]) {
      if (!slot.keeper) continue;
      if (slot.users === 0 && slot.keeper.isIdle()) slots.delete(accountId);
      else slots.set(accountId, successor(accountId, slot, slot.keeper));
    }
  };

  /** A slot that takes over. When it can't, the table stays open as it is. */
  const successor = (accountId: string, former: Slot, keeper: Keeper): Slot => {
    const reopen = async () => {
      const table = await former.opened;
      try {
        if (former.users > 0) await atMost(LEAVE_TIMEOUT, whenLeft(former));
        // What another handle can't undo.
        await table.writer.pause(async () => {});
        return await open(accountId, slot, keeper.debts());
      } catch (error) {
        log.warn("table_not_renewed", { accountId, cause: String(error) });
        slot.keeper = keeper;
        return table;
      }
    };
    const slot: Slot = {
      opened: Promise.resolve().then(reopen),
      keeper: null,
      users: 0,
      onLeft: null,
    };
    return slot;
  };

  const use: Store["use"] = async (accountId, task) => {
    if (dropped.has(accountId)) throw new AppError("not_found", "This account has been removed.");
    const slot = slotOf(accountId);
    slot.users++;
    closeLeastUsed();
    try {
      return await task(await slot.opened);
    } catch (error) {
      // A table that could not be opened is tried again by the next request.
      await slot.opened.catch(() => slots.get(accountId) === slot && slots.delete(accountId));
      throw error;
    } finally {
      slot.users--;
      if (slot.users === 0) slot.onLeft?.();
    }
  };

  const remove = async (accountId: string) => {
    // All that bears its name: what was set aside, too.
    const names = await readdir(folder);
    for (const name of names.filter((name) => name.startsWith(`${accountId}.lance`))) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
    await sync(folder);
    journal.forget(accountId);
  };

  const accounts = () => connection.tableNames({ limit: 1_000_000 });

  const upkeep = startUpkeep({
    keepers: () =>
      [...slots].flatMap(([accountId, { keeper }]) => (keeper ? [[accountId, keeper]] : [])),
    async afterChore(chore) {
      if (chore === "checkpoint" || ++chores < due.renewAfter) return;
      chores = 0;
      await renew();
    },
    log,
    metrics,
  });
  const resumption = resume();

  /** What an earlier process did not finish is finished now, used or not. */
  async function resume(): Promise<void> {
    for (const accountId of journal.unfinished()) {
      await use(accountId, async () => {}).catch((error) =>
        log.error("table_not_opened", { accountId, cause: String(error) }),
      );
    }
  }

  return {
    use,
    accounts,
    bytes: (accountId) => sizeOf(join(folder, `${accountId}.lance`)),

    async drop(accountId) {
      // A request that began before may still want to write.
      dropped.add(accountId);
      const slot = slots.get(accountId);
      slots.delete(accountId);
      await upkeep.pause(async () => {
        const open = await slot?.opened.catch(() => null);
        await (open ? open.writer.end(() => remove(accountId)) : remove(accountId));
      });
    },

    async close() {
      await resumption;
      await upkeep.stop();
      for (const [accountId, { opened, keeper }] of slots) {
        const isOpen = await opened.then(
          () => true,
          () => false,
        );
        if (!isOpen || !keeper || keeper.isIdle()) continue;
        await keeper
          .run("checkpoint")
          .catch((error) => log.error("checkpoint_failed", { accountId, cause: String(error) }));
      }
      connection.close();
    },
  };
}

/** What a request is told when a table can't be opened. */
function unopened(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const message = isDiskFull(error)
    ? "The server's disk is full: the memories can't be opened until there is space."
    : "The memories can't be opened now. Try again in a moment.";
  return new AppError("unavailable", message, { cause: error, retryAfter: 5 });
}

function whenLeft(slot: Slot): Promise<void> {
  return new Promise((resolve) => {
    slot.onLeft = resolve;
  });
}

async function atMost(limit: number, work: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error(`waited for ${limit} ms`)), limit);
  await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
