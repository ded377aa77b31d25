import type { Embedders } from "../embedding/embedders.ts";
import type { Log as Lines } from "../log.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import { DUE, type Due } from "./due.ts";
import { type Expiry, startExpiry } from "./expiry.ts";
import type { CurrentTable } from "./log/log.ts";
import { accountOf, isBaseOf, tableFor } from "./log/names.ts";
import { createOpenTables, type OpenTable } from "./open-tables.ts";
import { type QuotaOf, type Usage, usageOf } from "./quota.ts";
import { createReembedding } from "./reembedding.ts";
import type { ReembeddingRounds } from "./reembedding-rounds.ts";
import { removed } from "./removed-accounts.ts";
import { removeLeftovers, startResumption } from "./resumption.ts";
import type { Following } from "./shared/following.ts";
import { openSharedStore } from "./shared/shared-store.ts";
import type { Storage } from "./storage.ts";
import { measureStore } from "./store-metrics.ts";
import { WriterEnded } from "./writer.ts";

/** The memories of all accounts, each account's in a table of its own. */
export interface Store {
  /**
   * Runs `task` on the account's table, which stays open meanwhile. When a write of the task comes
   * too late because another table has taken the place of this one, the task runs again on that.
   */
  use<Result>(accountId: string, task: (open: OpenTable) => Promise<Result>): Promise<Result>;
  /** Removes an account's memories, if there are any, and takes no others. */
  drop(accountId: string): Promise<void>;
  /** Bytes on disk of an account's base, and of what the log has besides. */
  bytes(accountId: string): Promise<number>;
  /**
   * How far an account's table is: another text after each change that a use can see, of whatever
   * process, and after a start.
   */
  position(accountId: string): Promise<string>;
  /** What an account keeps, as quotas count it. */
  usage(accountId: string): Promise<Usage>;
  /** Accounts that have memories. */
  accounts(): Promise<string[]>;
  /** The share of the memories that have been embedded again by another model; null if none are to be. */
  reembedded(): number | null;
  /**
   * Seconds since the oldest change that upkeep has not seen to: a write that is in the log alone,
   * or something deleted that is still in the files.
   */
  lag(): number;
  /** Ends what runs in the background and writes the log into the bases. */
  close(): Promise<void>;
}

/** Bytes of memory for the views of all accounts together: some 1,000,000 memories. */
const ROOM = 1 << 30;

export interface StoreOptions {
  storage: Storage;
  embedders: Embedders;
  lines: Lines;
  metrics: Metrics;
  /** What an account may keep; null for all. */
  quotaOf: QuotaOf;
  /** When upkeep is due. */
  due?: Due;
  /** Bytes of memory for all views together. */
  room: number;
  /** When it is looked at what other processes do, where there are some. */
  following?: Following;
  /** Milliseconds since 1970, by which memories expire, and when those that have are looked for. */
  clock: () => number;
  expiry?: Expiry | undefined;
}

/** Opens the store: in one process at a time, unless the log is one that several share. */
export async function openStore({
  metrics = createMetrics(),
  quotaOf = async () => null,
  room = ROOM,
  clock = Date.now,
  ...options
}: Omit<StoreOptions, "metrics" | "quotaOf" | "room" | "clock"> & {
  metrics?: Metrics;
  quotaOf?: QuotaOf;
  room?: number | undefined;
  clock?: () => number;
}): Promise<Store> {
  const { shared } = options.storage.log;
  const all = { ...options, metrics, quotaOf, room, clock };
  return shared ? await openSharedStore(all, shared) : await openOwnStore(all);
}

async function openOwnStore({
  storage,
  embedders,
  lines,
  metrics,
  quotaOf,
  due = DUE,
  room,
  clock,
  expiry,
}: StoreOptions): Promise<Store> {
  const { log, vault } = storage;
  const { model } = embedders.wanted;
  const dropped = new Set<string>();
  /** How often accounts have changed since this start. */
  const commits = new Map<string, number>();
  const start = Bun.randomUUIDv7();
  /** Every use asks. No other process writes to these records. */
  const current = new Map<string, CurrentTable>();
  for (const { accountId, ...table } of await log.allCurrent()) current.set(accountId, table);
  const nameOf = (accountId: string) => current.get(accountId)?.name ?? accountId;

  const isOutdated = () => [...current.values()].some((table) => table.model !== model.id);

  // Before anything is flushed, whose base is not recorded yet.
  await removeLeftovers(storage, lines);

  let reembedding: ReembeddingRounds | null = null;
  const measured = measureStore(metrics, {
    log,
    opened: () => tables.opened(),
    lags: () => tables.lags(),
  });
  const tables = createOpenTables({
    storage,
    embedders,
    lines,
    metrics,
    due,
    room,
    async quotaOf(name) {
      const accountId = accountOf(name);
      // What is there already goes into a table that takes its place, however much it is.
      return nameOf(accountId) === name ? quotaOf(accountId) : null;
    },
    onCommit({ name, model }, outcome) {
      const accountId = accountOf(name);
      if (!current.has(accountId)) current.set(accountId, { name, model: model.id });
      commits.set(accountId, (commits.get(accountId) ?? 0) + 1);
      measured.onCommit(outcome);
      reembedding?.noteCommit(name, outcome);
    },
  });

  const useTable: typeof tables.use = async (name, task) => {
    if (dropped.has(accountOf(name))) throw removed();
    return await tables.use(name, task);
  };

  const setCurrent = async (accountId: string, table: CurrentTable) => {
    if (dropped.has(accountId)) throw removed();
    await log.setCurrent(accountId, table);
    current.set(accountId, table);
  };

  const use: Store["use"] = async (accountId, task) => {
    try {
      return await useTable(nameOf(accountId), task);
    } catch (error) {
      if (!(error instanceof WriterEnded)) throw error;
      return await use(accountId, task);
    }
  };

  const forgetTable = async (name: string) => {
    if (name === nameOf(accountOf(name))) throw new Error(`${name} is in use`);
    await log.forget([name]);
    const others = new Set([...(await log.tables()), nameOf(accountOf(name))]);
    await vault.forget((await vault.bases()).filter((base) => isBaseOf(base, name, others)));
  };

  const parts = { use: useTable, current, setCurrent, forgetTable, lines };
  const resumption = startResumption({ ...parts, log, model });
  const resumed = resumption.done.then(() => {
    reembedding = createReembedding({ ...parts, end: tables.end, embedders });
  });

  const expiring = startExpiry({ log, use, clock, lines, metrics, expiry });

  return {
    use,
    accounts: async () => [...new Set((await log.tables()).map(accountOf))],
    reembedded: () => (reembedding ? reembedding.progress() : isOutdated() ? 0 : null),
    lag: () => Math.max(...Object.values(tables.lags())),

    async bytes(accountId) {
      const name = nameOf(accountId);
      const pending = tables.opened().find((table) => table.name === name)?.pending.bytes ?? 0;
      const head = await log.head(name);
      return pending + (head?.checkpoint ? await vault.bytes(head.checkpoint.base) : 0);
    },

    position: async (accountId) => `${start} ${commits.get(accountId) ?? 0}`,

    usage: async (accountId) => usageOf(await log.head(nameOf(accountId)), accountId, use),

    async drop(accountId) {
      dropped.add(accountId);
      const known = (await log.tables()).filter((name) => accountOf(name) === accountId);
      // The first write of a table may be under way, of one for another model too.
      const names = new Set([...known, nameOf(accountId), tableFor(accountId, model.id)]);
      for (const name of names) await tables.end(name, async () => {});
      await log.forget([...names]);
      await vault.forget((await vault.bases()).filter((base) => accountOf(base) === accountId));
      current.delete(accountId);
      commits.delete(accountId);
    },

    async close() {
      await expiring.stop();
      await resumption.stop();
      await resumed;
      await reembedding?.stop();
      await tables.close();
    },
  };
}

/**
 * A store that is being opened, to be used already: calls wait until it is open, and fail when
 * opening it fails.
 */
export function deferredStore(opening: Promise<Store>): Store {
  // Whoever waits for it hears of a failure; it is not an error that nobody does.
  let opened: Store | null = null;
  opening.then(
    (store) => {
      opened = store;
    },
    () => {},
  );
  return {
    use: async (accountId, task) => (await opening).use(accountId, task),
    drop: async (accountId) => (await opening).drop(accountId),
    bytes: async (accountId) => (await opening).bytes(accountId),
    position: async (accountId) => (await opening).position(accountId),
    usage: async (accountId) => (await opening).usage(accountId),
    accounts: async () => (await opening).accounts(),
    reembedded: () => opened?.reembedded() ?? null,
    lag: () => opened?.lag() ?? 0,
    close: () =>
      opening.then(
        (store) => store.close(),
        () => {},
      ),
  };
}
