import { AppError } from "../errors.ts";
import { startExpiry } from "./background/expiry.ts";
import { createPositions, FOLLOWING, startFollowing } from "./cluster/following.ts";
import { startSharedReembedding } from "./cluster/shared-reembedding.ts";
import { accountOf } from "./log/log.ts";
import type { SharedLog } from "./log/shared-log.ts";
import { createOpenTables } from "./store/open-tables.ts";
import type { OpenTable } from "./store/pooled-table.ts";
import { accountRemoved, type Store } from "./store/store.ts";
import { accountsIn, bytesOfTable, measureStore, usageOfTable } from "./store/store-metrics.ts";
import type { StoreOptions } from "./store-options.ts";
import { WriterEnded } from "./table/writer.ts";
import { SHARED_DUE } from "./upkeep/flush-state.ts";

/** How often a task runs when its table is replaced, or must be opened again, each time. */
const MAX_TRIES = 8;

/**
 * Opens the store on tables that other processes write to as well. Each use first reads the position of the
 * account's table and the missing entries, so that it sees every write that any process has answered.
 */
export async function openSharedStore(
  {
    storage,
    embedders,
    lines,
    metrics,
    quotaOf,
    due = SHARED_DUE,
    room,
    following = FOLLOWING,
    clock,
    expiry,
  }: StoreOptions,
  shared: SharedLog,
): Promise<Store> {
  const { log, vault } = storage;
  const readPosition = createPositions(shared);
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
    quotaOf: (name) => quotaOf(accountOf(name)),
    onCommit(table, outcome) {
      measured.onCommit(outcome);
      reembedding.noteCommit(table, outcome);
    },
    onReplay: (table, outcome) => reembedding.noteCommit(table, outcome),
  });
  const { model } = embedders.wanted;
  const follower = startFollowing({ log: shared, tables, model, lines, every: following });

  const reembedding = startSharedReembedding({
    log,
    shared,
    tables,
    embedders,
    lines,
    retryAfter: following.copies,
  });

  const tryUse = async <Result>(
    accountId: string,
    task: (open: OpenTable) => Promise<Result>,
  ): Promise<Result> => {
    const position = await readPosition(accountId);
    if (!position) throw accountRemoved();
    return await tables.use(position.table, async (open) => {
      await open.writer.catchUp(position.seq);
      return await task(open);
    });
  };

  const use: Store["use"] = async (accountId, task) => {
    for (let tries = 1; ; tries++) {
      try {
        return await tryUse(accountId, task);
      } catch (error) {
        if (!(error instanceof WriterEnded)) throw error;
        if (tries === MAX_TRIES) throw keepsMoving(error);
      }
    }
  };

  const nameOf = async (accountId: string) => (await readPosition(accountId))?.table ?? accountId;

  const expiring = startExpiry({ log, use, clock, lines, metrics, expiry });

  return {
    use,
    accounts: () => accountsIn(log),
    reembedded: reembedding.progress,
    lag: tables.lag,

    bytes: async (accountId) => bytesOfTable(await nameOf(accountId), { tables, log, vault }),

    async position(accountId) {
      const position = await readPosition(accountId);
      return position ? `${position.table} ${position.seq}` : "";
    },

    usage: async (accountId) => usageOfTable(await nameOf(accountId), { log, use }),

    async drop(accountId) {
      const bases = await shared.forgetAccount(accountId);
      const names = tables.opened().map(({ name }) => name);
      tables.follow(
        names.filter((name) => accountOf(name) === accountId),
        new Map(),
      );
      await vault.forget(bases);
    },

    async close() {
      await expiring.stop();
      await follower.stop();
      await reembedding.stop();
      await tables.close();
    },
  };
}

function keepsMoving(cause: unknown) {
  const message = "The account's memories are being moved. Try again in a moment.";
  return new AppError("unavailable", message, { cause, retryAfter: 1 });
}
