import { randomUUID } from "node:crypto";
import type { Embedders } from "../../embedding/chosen-model.ts";
import { CtxdError } from "../../errors.ts";
import type { Log as Logger } from "../../log.ts";
import { type Round, startRounds } from "../background/reembedding.ts";
import { CopyAhead } from "../background/table-copy.ts";
import { type Log, tableFor } from "../log/log.ts";
import type { Lease } from "../log/records.ts";
import { LeaseLost, type SharedLog, withLease } from "../log/shared-log.ts";
import type { OpenTables } from "../store/open-tables.ts";
import { retryReplaced, WriterEnded } from "../table/writer.ts";

/** How often a table is opened again to read its newest entries, each time for another reason. */
const MAX_OPENINGS = 8;

/** Another process wrote to a table while its copy was to replace it. */
class WrittenMeanwhile extends CtxdError {
  readonly code = "written_meanwhile";
  constructor() {
    super("another process wrote to the table meanwhile");
  }
}

/**
 * Embeds the tables of other models again, as `createReembedding` does, where several processes write to
 * them. One process copies an account's table, under a lease:
 *
 * 1. It takes the lease, and only then reads which table the account has. Replacing the table ends the lease,
 *    so that table stays the account's as long as the lease is valid.
 * 2. It copies the table. Each entry of the copy is refused without the lease.
 * 3. It reads what others have written meanwhile, and copies that too. The copy counts the entries that it
 *    includes. An entry that it may have missed is not counted, until the tables are compared again.
 * 4. The copy replaces the table in one transaction, if the lease is valid and the copy includes the table's
 *    newest entry. An append to the former table waits for this transaction, and is then refused.
 */
export function startSharedReembedding({
  log,
  shared,
  tables,
  embedders,
  logger,
  retryAfter,
}: {
  log: Pick<Log, "allCurrent">;
  shared: SharedLog;
  tables: OpenTables;
  embedders: Embedders;
  logger: Logger;
  /** Milliseconds until accounts are tried again that failed, or that another process copies. */
  retryAfter: number;
}) {
  const { wanted } = embedders;

  /** Uses a table with the newest entries of all processes. */
  const useNewest: OpenTables["use"] = (name, task) =>
    retryReplaced(async () => {
      const [head] = await shared.heads([name]);
      return await tables.use(name, async (open) => {
        if (head) await open.writer.catchUp(head.seq);
        // It has been dropped.
        else if (open.table.seq > 0) throw new WriterEnded();
        return await task(open);
      });
    }, MAX_OPENINGS);

  const replace = async (accountId: string, from: string, lease: Lease, round: Round) => {
    const to = { name: tableFor(accountId, wanted.model.id), model: wanted.model.id };
    let isInTurn = false;
    const copy = await round.startCopy(accountId, {
      from,
      to: to.name,
      lease,
      // Entries of other processes can't be read in the turn of the table's writer.
      use: (name, task) => (isInTurn && name === from ? tables.use : useNewest)(name, task),
    });
    const { total } = copy;
    const finish = async () => {
      isInTurn = true;
      try {
        await copy.run(round.mayContinue);
        if (!round.mayContinue()) throw new WrittenMeanwhile();
        const isDone = await shared.replace(accountId, { from, seq: copy.seq, to }, lease);
        if (!isDone) throw new WrittenMeanwhile();
      } finally {
        isInTurn = false;
      }
    };
    const attempt = async () => {
      await copy.catchUp();
      await copy.run(round.mayContinue);
      await tables.end(from, finish);
      return true;
    };
    const tryAttempt = () =>
      attempt().catch((error) => {
        if (error instanceof WrittenMeanwhile || error instanceof CopyAhead) return false;
        throw error;
      });
    while (!(await tryAttempt())) {
      if (!round.mayContinue()) return;
      // The lease may have been lost, and the table replaced by the new holder's copy.
      const position = await shared.position(accountId);
      if (position?.table !== from) throw new LeaseLost(`${from} has been replaced`);
    }
    logger.info("reembedding_done", { accountId, memories: total, ...to });
  };

  /** The table that must be copied; `null` when there is none. */
  const outdatedTable = async (accountId: string): Promise<string | null> => {
    const position = await shared.position(accountId);
    if (!position || position.model === wanted.model.id) return null;
    const { table, model, seq } = position;
    if (model !== null || seq === 0) return table;
    // An earlier version has not recorded the model. The base has it.
    const made = await useNewest(table, async (open) => open.table.model.id);
    await shared.setModel(accountId, { name: table, model: made });
    return made === wanted.model.id ? null : table;
  };

  /** @returns whether the account is done */
  const reembed = async (accountId: string, round: Round): Promise<boolean> => {
    if ((await outdatedTable(accountId)) === null) return true;
    // An owner of its own for each attempt: a late entry of an earlier one must find its lease lost.
    const leased = { table: accountId, owner: randomUUID() };
    return await withLease(shared.copying, leased, async (lease) => {
      const from = await outdatedTable(accountId);
      if (from !== null) await replace(accountId, from, lease, round);
    });
  };

  return startRounds({
    log,
    embedders,
    retryAfter,
    logger,
    reembed,
  });
}
