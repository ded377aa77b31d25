import { AppError } from "../../errors.ts";
import { SHARED_DUE } from "../due.ts";
import { startExpiry } from "../expiry.ts";
import { accountOf } from "../log/names.ts";
import type { SharedLog } from "../log/shared-log.ts";
import { createOpenTables, type OpenTable } from "../open-tables.ts";
import { usageOf } from "../quota.ts";
import { removed } from "../removed-accounts.ts";
import type { Store, StoreOptions } from "../store.ts";
import { measureStore } from "../store-metrics.ts";
import { WriterEnded } from "../writer.ts";
import { FOLLOWING, startFollowing } from "./following.ts";
import { createPositions } from "./positions.ts";
import { startSharedReembedding } from "./shared-reembedding.ts";

/** How often a task runs again since its table was replaced or had to be opened again meanwhile. */
const MOST_TRIES = 8;

/**
 * Opens the store on tables that other processes write to as well. Each use learns first how the
 * account's table stands, and takes in what is missing: what was answered anywhere before is seen.
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
  log: SharedLog,
): Promise<Store> {
  const { vault } = storage;
  const readPosition = createPositions(log);
  const measured = measureStore(metrics, {
    log: storage.log,
    opened: () => tables.opened(),
    lags: () => tables.lags(),
  });
  const tables = createOpenTables({
    ...{ storage, embedders, lines, metrics, due, room },
    // What is there already goes into a copy, however much it is.
    quotaOf: async (name) => (reembedding.leaseOf(name) ? null : quotaOf(accountOf(name))),
    onCommit({ name }, outcome) {
      measured.onCommit(outcome);
      reembedding.noteCommit(name, outcome);
    },
    onReplay: ({ name }, outcome) => reembedding.noteCommit(name, outcome),
    leaseOf: (name) => reembedding.leaseOf(name),
  });
  const { model } = embedders.wanted;
  const followed = startFollowing({ log, tables, model, lines, every: following });

  const reembedding = startSharedReembedding({
    ...{ log: storage.log, shared: log, tables, embedders, lines },
    retryAfter: following.copies,
  });

  const tryUse = async <Result>(
    accountId: string,
    task: (open: OpenTable) => Promise<Result>,
  ): Promise<Result> => {
    const position = await readPosition(accountId);
    if (!position) throw removed();
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
        if (tries === MOST_TRIES) throw unsettled(error);
      }
    }
  };

  const expiring = startExpiry({ log: storage.log, use, clock, lines, metrics, expiry });

  return {
    use,
    accounts: async () => [...new Set((await storage.log.tables()).map(accountOf))],
    reembedded: reembedding.progress,
    lag: () => Math.max(...Object.values(tables.lags())),

    async bytes(accountId) {
      const name = (await readPosition(accountId))?.table ?? accountId;
      const pending = tables.opened().find((table) => table.name === name)?.pending.bytes ?? 0;
      const head = await storage.log.head(name);
      return pending + (head?.checkpoint ? await vault.bytes(head.checkpoint.base) : 0);
    },

    async position(accountId) {
      const position = await readPosition(accountId);
      return position ? `${position.table} ${position.seq}` : "";
    },

    async usage(accountId) {
      const name = (await readPosition(accountId))?.table ?? accountId;
      return usageOf(await storage.log.head(name), accountId, use);
    },

    async drop(accountId) {
      const bases = await log.forgetAccount(accountId);
      const names = tables.opened().map(({ name }) => name);
      tables.follow(
        names.filter((name) => accountOf(name) === accountId),
        new Map(),
      );
      await vault.forget(bases);
    },

    async close() {
      await expiring.stop();
      await followed.stop();
      await reembedding.stop();
      await tables.close();
    },
  };
}

function unsettled(cause: unknown) {
  const message = "The account's memories are being moved. Try again in a moment.";
  return new AppError("unavailable", message, { cause, retryAfter: 1 });
}
