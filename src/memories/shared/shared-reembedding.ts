import { randomUUID } from "node:crypto";
import type { Embedders } from "../../embedding/embedders.ts";
import type { Log as Lines } from "../../log.ts";
import type { Log } from "../log/log.ts";
import { tableFor } from "../log/names.ts";
import type { Outcome } from "../log/pending.ts";
import type { Lease, SharedLog } from "../log/shared-log.ts";
import type { OpenTables } from "../open-tables.ts";
import { createTableCopy, type TableCopy } from "../table-copy.ts";
import { withLease } from "./held-lease.ts";

/** Something was written elsewhere while a table was to take the place of another one. */
class WrittenMeanwhile extends Error {}

export type SharedReembedding = ReturnType<typeof startSharedReembedding>;

/**
 * Embeds the tables of other models again, as `createReembedding` does, where several processes write to
 * them: each account's is copied by one process, under a lease. What the others write meanwhile is copied
 * too, and the copy takes the table's place only if nothing is missing in it.
 */
export function startSharedReembedding({
  log,
  shared,
  tables,
  embedders,
  lines,
  retryAfter,
}: {
  log: Pick<Log, "allCurrent" | "setCurrent">;
  shared: SharedLog;
  tables: OpenTables;
  embedders: Embedders;
  lines: Lines;
  /** Milliseconds until those are tried again that failed, or that another process copies. */
  retryAfter: number;
}) {
  const { wanted } = embedders;
  const owner = randomUUID();
  const stopped = Promise.withResolvers<void>();
  let isStopped = false;
  const mayGoOn = () => !isStopped;
  /** Leases of the copies that are being written here, by their names. */
  const leases = new Map<string, Lease>();
  let copy: TableCopy | null = null;
  let [accounts, accountsLeft] = [0, 0];

  /** Uses a table with all that was written to it anywhere. */
  const useNewest: OpenTables["use"] = async (name, task) => {
    const [stand] = await shared.stands([name]);
    return await tables.use(name, async (open) => {
      if (stand) await open.writer.catchUp(stand.seq);
      return await task(open);
    });
  };

  const replace = async (accountId: string, from: string, lease: Lease) => {
    const to = { name: tableFor(accountId, wanted.model.id), model: wanted.model.id };
    leases.set(to.name, lease);
    let isInTurn = false;
    const filling = createTableCopy({
      ...{ from, to: to.name, wanted },
      // In the turn of its writer nothing can be taken in.
      use: (name, task) => (isInTurn && name === from ? tables.use : useNewest)(name, task),
    });
    copy = filling;
    await filling.compare();
    const { total, left } = filling;
    lines.info("reembedding_started", { accountId, memories: total, left });
    const finish = async () => {
      isInTurn = true;
      try {
        await filling.copy(mayGoOn);
        if (isStopped) throw new WrittenMeanwhile();
        const seq = tables.opened().find(({ name }) => name === from)?.seq ?? 0;
        const isDone = await shared.replace(accountId, { from, seq, to }, lease);
        if (!isDone) throw new WrittenMeanwhile();
      } finally {
        isInTurn = false;
      }
    };
    for (let isDone = false; !isDone && !isStopped; ) {
      await filling.copy(mayGoOn);
      if (isStopped) return;
      isDone = await tables.end(from, finish).then(
        () => true,
        (error) => {
          if (error instanceof WrittenMeanwhile) return false;
          throw error;
        },
      );
    }
    if (!isStopped) lines.info("reembedding_done", { accountId, memories: total, ...to });
  };

  /** Tells whether nothing is left to be done for an account. */
  const remake = async (accountId: string): Promise<boolean> => {
    const position = await shared.position(accountId);
    if (!position) return true;
    const { table, model } = position;
    if (model === wanted.model.id) return true;
    if (model === null && position.seq > 0) {
      // As an earlier version left it: the base knows its model.
      const made = await useNewest(table, async (open) => open.table.model.id);
      await log.setCurrent(accountId, { name: table, model: made });
      return await remake(accountId);
    }
    const parts = { table: accountId, owner };
    return await withLease(shared.copying, parts, (lease) => replace(accountId, table, lease));
  };

  const attempt = async (accountId: string): Promise<boolean> => {
    try {
      return await remake(accountId);
    } catch (error) {
      if (!isStopped) lines.error("reembedding_failed", { accountId, cause: String(error) });
      return false;
    } finally {
      copy = null;
      leases.clear();
    }
  };

  const run = async () => {
    const outdated = (await log.allCurrent()).filter(({ model }) => model !== wanted.model.id);
    [accounts, accountsLeft] = [outdated.length, outdated.length];
    for (let round = outdated.map(({ accountId }) => accountId); round.length > 0; ) {
      const failed: string[] = [];
      for (const accountId of round) {
        const isDone = await attempt(accountId);
        if (isStopped) return;
        if (isDone) accountsLeft--;
        else failed.push(accountId);
      }
      round = failed;
      if (failed.length > 0) await Promise.race([Bun.sleep(retryAfter), stopped.promise]);
      if (isStopped) return;
    }
    if (accounts > 0) embedders.release();
  };
  const running = run().catch((error) => {
    lines.error("reembedding_failed", { cause: String(error) });
  });

  return {
    /** The lease under which a table is a copy that is not yet the account's. */
    leaseOf: (name: string): Lease | undefined => leases.get(name),
    /** Receives every commit, and of those of others: what changes is copied again. */
    noteCommit(name: string, outcome: Outcome): void {
      if (name === copy?.from) copy.note(outcome);
    },
    /** The share that is done, 0 to 1; null when nothing is to be done. */
    progress: (): number | null =>
      accountsLeft === 0 ? null : 1 - (accountsLeft - 1 + (copy?.leftShare ?? 1)) / accounts,
    /** Resolves when the text under way is done. Another process goes on. */
    async stop(): Promise<void> {
      isStopped = true;
      stopped.resolve();
      await running;
    },
  };
}
