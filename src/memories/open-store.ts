import type { Embedders } from "../embedding/chosen-model.ts";
import { AppError } from "../errors.ts";
import type { Log as Logger } from "../log.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import { type Expiry, startExpiry } from "./background/expiry.ts";
import { createReembedding, type ReembeddingRounds } from "./background/reembedding.ts";
import { removeLeftovers, startResumption } from "./background/resumption.ts";
import { createPositions, FOLLOWING, type Following, startFollowing } from "./cluster/following.ts";
import { startSharedReembedding } from "./cluster/shared-reembedding.ts";
import { accountOf, isBaseOf, type LocalLog, tableFor } from "./log/log.ts";
import type { SharedLog } from "./log/shared-log.ts";
import type { QuotaOf } from "./model/quota.ts";
import { loadCurrentTables } from "./store/current-tables.ts";
import { createOpenTables, type OpenTables } from "./store/open-tables.ts";
import type { TableOpening } from "./store/pooled-table.ts";
import { accountRemoved, type Store } from "./store/store.ts";
import type { Storage } from "./table/storage.ts";
import { retryReplaced, WriterEnded } from "./table/writer.ts";
import { SHARED_UPKEEP_LIMITS, UPKEEP_LIMITS, type UpkeepLimits } from "./upkeep/flush-state.ts";

/** Bytes of memory for the views of all accounts together: some 1,000,000 memories. */
const VIEW_MEMORY = 1 << 30;
/** How often a task runs when its table is replaced, or must be opened again, each time. */
const MAX_OPENINGS = 8;

interface StoreOptions {
  storage: Storage;
  embedders: Embedders;
  logger: Logger;
  metrics?: Metrics;
  /** An account's quota; null without one. */
  quotaOf?: QuotaOf;
  /** When upkeep is due. */
  due?: UpkeepLimits;
  /** Bytes of memory for all views together. */
  viewMemory?: number | undefined;
  /** How often the work of other processes is checked, where there are some. */
  following?: Following;
  /** Milliseconds since 1970. */
  clock?: () => number;
  /** When expired memories are removed. */
  expiry?: Expiry | undefined;
}

/** The parts of a store that differ between one process and several. */
interface AccountTables extends Pick<Store, "use" | "drop" | "position" | "reembedded"> {
  tables: OpenTables;
  /** The name of an account's table. */
  nameOf(accountId: string): string | Promise<string>;
  /** Ends background work. */
  stop(): Promise<void>;
}

interface Parts extends Pick<StoreOptions, "storage" | "embedders" | "logger"> {
  quotaOf: QuotaOf;
  openTables(options: Omit<TableOpening, "storage" | "embedders">): OpenTables;
}

/** Opens the store: in one process at a time, unless several processes share its log. */
export async function openStore({
  storage,
  embedders,
  logger,
  metrics = createMetrics(),
  quotaOf = async () => null,
  due,
  viewMemory = VIEW_MEMORY,
  following = FOLLOWING,
  clock = Date.now,
  expiry,
}: StoreOptions): Promise<Store> {
  const { log, vault } = storage;
  const openTables: Parts["openTables"] = (options) =>
    createOpenTables({ storage, embedders, logger, metrics, viewMemory, ...options });
  const parts = { storage, embedders, logger, quotaOf, openTables };
  const { tables, nameOf, use, stop, ...differing } = log.shared
    ? openSharedTables(parts, { shared: log.shared, due: due ?? SHARED_UPKEEP_LIMITS, following })
    : await openLocalTables(parts, { log, due: due ?? UPKEEP_LIMITS });
  const expiring = startExpiry({ log, use, clock, logger, metrics, expiry });

  return {
    use,
    ...differing,
    lag: tables.lag,
    accounts: async () => [...new Set((await log.tables()).map(accountOf))],
    async bytes(accountId) {
      const name = await nameOf(accountId);
      const pending = tables.opened().find((table) => table.name === name)?.pending.bytes ?? 0;
      const head = await log.head(name);
      return pending + (head?.checkpoint ? await vault.bytes(head.checkpoint.base) : 0);
    },
    async usage(accountId) {
      const head = await log.head(await nameOf(accountId));
      if (head === null) return { memories: 0, bytes: 0 };
      // A table is opened only where the log has not counted its usage.
      return head.usage ?? (await use(accountId, async ({ table }) => ({ ...table.usage })));
    },
    async close() {
      await expiring.stop();
      await stop();
      await tables.close();
    },
  };
}

/** The tables of a data folder, which only this process uses. */
async function openLocalTables(
  { storage, embedders, logger, quotaOf, openTables }: Parts,
  { log, due }: { log: LocalLog; due: UpkeepLimits },
): Promise<AccountTables> {
  const { vault } = storage;
  const { model } = embedders.wanted;
  const current = await loadCurrentTables(log);
  /** The number of each account's commits since this start. The id makes positions of two starts differ. */
  const commits = new Map<string, number>();
  const start = Bun.randomUUIDv7();
  // Before any flush starts: it writes a base that is not recorded yet.
  await removeLeftovers(storage, logger);

  let reembedding: ReembeddingRounds | null = null;
  const tables = openTables({
    due,
    // A table that is to replace the current one takes all its memories, whatever the quota.
    quotaOf: async (name) => (current.isCurrent(name) ? quotaOf(accountOf(name)) : null),
    onChange(table, outcome) {
      const accountId = accountOf(table.name);
      current.noteFirst(accountId, { name: table.name, model: table.model.id });
      commits.set(accountId, (commits.get(accountId) ?? 0) + 1);
      reembedding?.noteCommit(table, outcome);
    },
    checkUse: current.checkUse,
  });

  /** Removes a table that another one has replaced, with its bases. */
  const forgetTable = async (name: string) => {
    if (current.isCurrent(name)) throw new Error(`${name} is in use`);
    await log.forget([name]);
    const others = new Set([...(await log.tables()), current.nameOf(accountOf(name))]);
    await vault.forget((await vault.bases()).filter((base) => isBaseOf(base, name, others)));
  };
  const parts = { log, tables, current, forgetTable, logger };
  const resumption = startResumption({ ...parts, model });
  const resumed = resumption.done.then(() => {
    reembedding = createReembedding({ ...parts, embedders });
  });
  const hasOtherModels = () => [...current.all.values()].some((table) => table.model !== model.id);

  return {
    tables,
    nameOf: current.nameOf,
    use: (accountId, task) => retryReplaced(() => tables.use(current.nameOf(accountId), task)),
    reembedded: () => (reembedding ? reembedding.progress() : hasOtherModels() ? 0 : null),
    position: async (accountId) => `${start} ${commits.get(accountId) ?? 0}`,

    async drop(accountId) {
      current.refuse(accountId);
      const known = (await log.tables()).filter((name) => accountOf(name) === accountId);
      // The first write of a table may be running, also of a table for another model.
      const names = new Set([...known, current.nameOf(accountId), tableFor(accountId, model.id)]);
      for (const name of names) await tables.end(name, async () => {});
      await log.forget([...names]);
      await vault.forget((await vault.bases()).filter((base) => accountOf(base) === accountId));
      current.forget(accountId);
      commits.delete(accountId);
    },

    async stop() {
      await resumption.stop();
      await resumed;
      await reembedding?.stop();
    },
  };
}

/**
 * The tables that other processes write to as well. Each use first reads the position of the account's table
 * and the missing entries, so that it sees every write that any process has answered.
 */
function openSharedTables(
  { storage, embedders, logger, quotaOf, openTables }: Parts,
  { shared, due, following }: { shared: SharedLog; due: UpkeepLimits; following: Following },
): AccountTables {
  const readPosition = createPositions(shared);
  const tables = openTables({
    due,
    quotaOf: (name) => quotaOf(accountOf(name)),
    onChange: (table, outcome) => reembedding.noteCommit(table, outcome),
  });
  const { model } = embedders.wanted;
  const follower = startFollowing({ log: shared, tables, model, logger, every: following });

  const reembedding = startSharedReembedding({
    log: storage.log,
    shared,
    tables,
    embedders,
    logger,
    retryAfter: following.copies,
  });

  const useNewest: Store["use"] = async (accountId, task) => {
    const position = await readPosition(accountId);
    if (!position) throw accountRemoved();
    return await tables.use(position.table, async (open) => {
      await open.writer.catchUp(position.seq);
      return await task(open);
    });
  };

  return {
    tables,
    nameOf: async (accountId) => (await readPosition(accountId))?.table ?? accountId,
    use: (accountId, task) =>
      retryReplaced(() => useNewest(accountId, task), MAX_OPENINGS).catch((error) => {
        throw error instanceof WriterEnded ? keepsMoving(error) : error;
      }),
    reembedded: reembedding.progress,

    async position(accountId) {
      const position = await readPosition(accountId);
      return position ? `${position.table} ${position.seq}` : "";
    },

    async drop(accountId) {
      const bases = await shared.forgetAccount(accountId);
      const names = tables.opened().map(({ name }) => name);
      tables.catchUp(
        names.filter((name) => accountOf(name) === accountId),
        new Map(),
      );
      await storage.vault.forget(bases);
    },

    async stop() {
      await follower.stop();
      await reembedding.stop();
    },
  };
}

function keepsMoving(cause: unknown) {
  const message = "The account's memories are being moved. Try again in a moment.";
  return new AppError("unavailable", message, { cause, retryAfter: 1 });
}
