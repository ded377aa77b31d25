import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type * as LanceDb from "@lancedb/lancedb";
import type { Embedders } from "../embedding/embedders.ts";
import { AppError } from "../errors.ts";
import type { Log } from "../log.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import { accountOf, type Generations } from "./generations.ts";
import type { Journal } from "./journal.ts";
import { DUE, type Due } from "./keeper.ts";
import { openTables } from "./open-tables.ts";
import type { Quota } from "./quota.ts";
import { createReembedding, type Reembedding } from "./reembedding.ts";
import type { OpenTable } from "./slot.ts";
import { sizeOf, sync } from "./table-files.ts";
import { WriterEnded } from "./writer.ts";

/** The memories of all accounts, each account's in a table of its own. */
export interface Store {
  /**
   * Runs `task` on the account's table, which stays open meanwhile. When a write of the task comes
   * too late because another table has taken the place of this one, the task runs again on that.
   */
  use<Result>(accountId: string, task: (open: OpenTable) => Promise<Result>): Promise<Result>;
  /** Removes an account's table with all that is in it, if there is one, and lets none be made. */
  drop(accountId: string): Promise<void>;
  /** Bytes on disk of an account's table, which need not be open. */
  bytes(accountId: string): Promise<number>;
  /** Accounts that have a table. */
  accounts(): Promise<string[]>;
  /** The share of the memories whose vectors another model makes anew that is done; null if none. */
  reembedded(): number | null;
  /**
   * Seconds since the oldest change that upkeep has not seen to: a write that is in the journal alone,
   * or something deleted that is still in the files.
   */
  lag(): number;
  /** Ends what runs in the background and leaves everything on the disk. */
  close(): Promise<void>;
}

/** Opens the store in a folder, which is made when it isn't there. One process at a time. */
export async function openStore({
  lancedb,
  folder,
  embedders,
  journal,
  generations,
  log,
  metrics = createMetrics(),
  quotaOf = () => null,
  due = DUE,
  room,
}: {
  lancedb: typeof LanceDb;
  folder: string;
  embedders: Embedders;
  journal: Journal;
  generations: Generations;
  log: Log;
  metrics?: Metrics;
  /** What an account may keep; null for all. */
  quotaOf?: (accountId: string) => Quota | null;
  /** When upkeep is due. */
  due?: Due;
  /** Bytes of memory for what searches read, of rows and of what they look for in them. */
  room?: number;
}): Promise<Store> {
  const dropped = new Set<string>();
  const { model } = embedders.wanted;
  let reembedding: Reembedding | null = null;
  // The folder may be new: a table that is on the disk is lost when its folder is not.
  for (const part of [folder, dirname(folder), dirname(dirname(folder))]) await sync(part);
  const tables = await openTables({
    lancedb,
    folder,
    embedders,
    journal,
    log,
    metrics,
    due,
    room,
    quotaOf(name) {
      const accountId = accountOf(name);
      const quota = quotaOf(accountId);
      // What is there already goes into a table that takes its place, however much it is.
      return quota && generations.current(accountId) === name ? quota : null;
    },
    onCommit: (name, outcome) => reembedding?.noteCommit(name, outcome),
  });

  const useTable: typeof tables.use = async (name, task) => {
    if (dropped.has(accountOf(name))) {
      throw new AppError("not_found", "This account has been removed.");
    }
    return await tables.use(name, task);
  };

  const use: Store["use"] = async (accountId, task) => {
    // First: meanwhile the account may be removed, or another table take the place of its own.
    await tables.room(generations.current(accountId));
    const name = generations.current(accountId);
    try {
      return await useTable(name, (open) => {
        if (name === accountId) generations.record(accountId, open.table.model.id);
        return task(open);
      });
    } catch (error) {
      if (!(error instanceof WriterEnded)) throw error;
      return await use(accountId, task);
    }
  };

  const tablesOnDisk = async () =>
    (await readdir(folder))
      .filter((name) => name.endsWith(".lance"))
      .map((name) => name.slice(0, -6));

  const removeTable = async (name: string) => {
    await rm(join(folder, `${name}.lance`), { recursive: true, force: true });
    await sync(folder);
    journal.forget([name]);
  };

  const removeAccount = async (accountId: string) => {
    // All that bears its name: what was set aside, too.
    const names = (await readdir(folder)).filter((name) => accountOf(name) === accountId);
    for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
    await sync(folder);
    journal.forget([accountId, ...names.map((name) => name.replace(/\.lance$/, ""))]);
    generations.forget(accountId);
  };

  /** What an earlier process did not finish is finished now, used or not. */
  const resume = async () => {
    for (const name of await tablesOnDisk()) {
      if (generations.isLeftOver(name, model.id)) await removeTable(name);
    }
    for (const accountId of [...journal.unfinished().map(accountOf), ...generations.unrecorded()]) {
      await tables.room(generations.current(accountId), Number.POSITIVE_INFINITY);
      await use(accountId, async () => {}).catch((error) =>
        log.error("table_not_opened", { accountId, cause: String(error) }),
      );
    }
    reembedding = createReembedding({
      use: useTable,
      tables,
      generations,
      embedders,
      removeTable,
      log,
    });
  };
  const resumption = resume();

  return {
    use,
    accounts: async () => [...new Set((await tablesOnDisk()).map(accountOf))],
    bytes: (accountId) => sizeOf(join(folder, `${generations.current(accountId)}.lance`)),
    reembedded: () => reembedding?.progress() ?? null,
    lag: tables.lag,

    async drop(accountId) {
      dropped.add(accountId);
      await tables.end(
        (name) => accountOf(name) === accountId,
        () => removeAccount(accountId),
      );
    },

    async close() {
      await resumption;
      await reembedding?.stop();
      await tables.close();
    },
  };
}
