import { startExpiry } from "./background/expiry.ts";
import { createReembedding, type ReembeddingRounds } from "./background/reembedding.ts";
import { removeLeftovers, startResumption } from "./background/resumption.ts";
import type { Vault } from "./base/vault.ts";
import { accountOf, isBaseOf, type Log, tableFor } from "./log/log.ts";
import { type CurrentTables, loadCurrentTables } from "./store/current-tables.ts";
import { createOpenTables } from "./store/open-tables.ts";
import type { Store } from "./store/store.ts";
import { accountsIn, bytesOfTable, measureStore, usageOfTable } from "./store/store-metrics.ts";
import type { StoreOptions } from "./store-options.ts";
import { WriterEnded } from "./table/writer.ts";
import { DUE } from "./upkeep/flush-state.ts";

/** Opens the store of a data folder, which only this process uses. */
export async function openLocalStore({
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
  const current = await loadCurrentTables(log);
  const commits = createCommitCounts();
  // Before any flush starts: it writes a base that is not recorded yet.
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
    // A table that is to replace the current one takes all its memories, whatever the quota.
    quotaOf: async (name) => (current.isCurrent(name) ? quotaOf(accountOf(name)) : null),
    onCommit({ name, model, seq }, outcome) {
      const accountId = accountOf(name);
      current.noteFirst(accountId, { name, model: model.id });
      commits.increment(accountId);
      measured.onCommit(outcome);
      reembedding?.noteCommit({ name, seq }, outcome);
    },
    checkUse: current.checkUse,
  });

  const use: Store["use"] = async (accountId, task) => {
    try {
      return await tables.use(current.nameOf(accountId), task);
    } catch (error) {
      if (!(error instanceof WriterEnded)) throw error;
      return await use(accountId, task);
    }
  };

  const parts = {
    use: tables.use,
    current: current.all,
    setCurrent: current.set,
    forgetTable: (name: string) => forgetReplaced(name, { log, vault, current }),
    lines,
  };
  const resumption = startResumption({ ...parts, log, model });
  const resumed = resumption.done.then(() => {
    reembedding = createReembedding({ ...parts, end: tables.end, embedders });
  });
  const hasOtherModels = () => [...current.all.values()].some((table) => table.model !== model.id);

  const expiring = startExpiry({ log, use, clock, lines, metrics, expiry });

  return {
    use,
    accounts: () => accountsIn(log),
    reembedded: () => (reembedding ? reembedding.progress() : hasOtherModels() ? 0 : null),
    lag: tables.lag,
    bytes: (accountId) => bytesOfTable(current.nameOf(accountId), { tables, log, vault }),
    position: async (accountId) => commits.position(accountId),
    usage: (accountId) => usageOfTable(current.nameOf(accountId), { log, use }),

    async drop(accountId) {
      current.refuse(accountId);
      const known = (await log.tables()).filter((name) => accountOf(name) === accountId);
      // The first write of a table may be running, also of a table for another model.
      const names = new Set([...known, current.nameOf(accountId), tableFor(accountId, model.id)]);
      for (const name of names) await tables.end(name, async () => {});
      await log.forget([...names]);
      await vault.forget((await vault.bases()).filter((base) => accountOf(base) === accountId));
      current.forget(accountId);
      commits.forget(accountId);
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

/** Counts the commits of accounts since this start, which an id of its own tells from others. */
function createCommitCounts() {
  const start = Bun.randomUUIDv7();
  const counts = new Map<string, number>();
  return {
    increment: (accountId: string) => counts.set(accountId, (counts.get(accountId) ?? 0) + 1),
    position: (accountId: string): string => `${start} ${counts.get(accountId) ?? 0}`,
    forget: (accountId: string) => counts.delete(accountId),
  };
}

/** Removes a table that another one has replaced, with its bases. */
async function forgetReplaced(
  name: string,
  {
    log,
    vault,
    current,
  }: {
    log: Pick<Log, "forget" | "tables">;
    vault: Pick<Vault, "bases" | "forget">;
    current: Pick<CurrentTables, "isCurrent" | "nameOf">;
  },
): Promise<void> {
  if (current.isCurrent(name)) throw new Error(`${name} is in use`);
  await log.forget([name]);
  const others = new Set([...(await log.tables()), current.nameOf(accountOf(name))]);
  await vault.forget((await vault.bases()).filter((base) => isBaseOf(base, name, others)));
}
