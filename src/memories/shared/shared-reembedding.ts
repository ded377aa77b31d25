import { randomUUID } from "node:crypto";
import type { Embedders } from "../../embedding/embedders.ts";
import { CtxdError } from "../../errors.ts";
import type { Log as Lines } from "../../log.ts";
import type { Log } from "../log/log.ts";
import { tableFor } from "../log/names.ts";
import type { Lease } from "../log/records.ts";
import type { SharedLog } from "../log/shared-log.ts";
import type { OpenTables } from "../open-tables.ts";
import { type Round, startRounds } from "../reembedding-rounds.ts";
import { createTableCopy } from "../table-copy.ts";
import { withLease } from "./held-lease.ts";

/** Another process wrote to a table while its copy was to replace it. */
class WrittenMeanwhile extends CtxdError {
  override readonly name = "WrittenMeanwhile";
  readonly code = "written_meanwhile";
  constructor() {
    super("another process wrote to the table meanwhile");
  }
}

/**
 * Embeds the tables of other models again, as `createReembedding` does, where several processes write to
 * them. One process copies an account's table, under a lease. What other processes write meanwhile is
 * copied too, and the copy replaces the table only if it is complete.
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
  /** Milliseconds until accounts are tried again that failed, or that another process copies. */
  retryAfter: number;
}) {
  const { wanted } = embedders;
  const owner = randomUUID();
  /** Leases of the copies that this process writes, by table name. */
  const leases = new Map<string, Lease>();

  /** Uses a table with the newest entries of all processes. */
  const useNewest: OpenTables["use"] = async (name, task) => {
    const [head] = await shared.heads([name]);
    return await tables.use(name, async (open) => {
      if (head) await open.writer.catchUp(head.seq);
      return await task(open);
    });
  };

  const replace = async (accountId: string, from: string, lease: Lease, round: Round) => {
    const to = { name: tableFor(accountId, wanted.model.id), model: wanted.model.id };
    let isInTurn = false;
    const copy = createTableCopy({
      from,
      to: to.name,
      wanted,
      // Entries of other processes can't be read in the turn of the table's writer.
      use: (name, task) => (isInTurn && name === from ? tables.use : useNewest)(name, task),
    });
    round.track(copy);
    await copy.compare();
    const { total, remaining } = copy;
    lines.info("reembedding_started", { accountId, memories: total, left: remaining });
    const finish = async () => {
      isInTurn = true;
      try {
        await copy.run(round.mayContinue);
        if (!round.mayContinue()) throw new WrittenMeanwhile();
        const seq = tables.opened().find(({ name }) => name === from)?.seq ?? 0;
        // Once the copy is the account's table, requests write to it. Replacing it ends the lease.
        leases.delete(to.name);
        const isDone = await shared.replace(accountId, { from, seq, to }, lease);
        if (!isDone) throw new WrittenMeanwhile();
      } finally {
        isInTurn = false;
      }
    };
    for (let isDone = false; !isDone && round.mayContinue(); ) {
      leases.set(to.name, lease);
      await copy.run(round.mayContinue);
      if (!round.mayContinue()) return;
      isDone = await tables.end(from, finish).then(
        () => true,
        (error) => {
          if (error instanceof WrittenMeanwhile) return false;
          throw error;
        },
      );
    }
    if (round.mayContinue()) lines.info("reembedding_done", { accountId, memories: total, ...to });
  };

  /** @returns whether the account is done */
  const reembed = async (accountId: string, round: Round): Promise<boolean> => {
    const position = await shared.position(accountId);
    if (!position) return true;
    const { table, model } = position;
    if (model === wanted.model.id) return true;
    if (model === null && position.seq > 0) {
      // An earlier version has not recorded the model. The base has it.
      const made = await useNewest(table, async (open) => open.table.model.id);
      await log.setCurrent(accountId, { name: table, model: made });
      return await reembed(accountId, round);
    }
    const leased = { table: accountId, owner };
    return await withLease(shared.copying, leased, (lease) =>
      replace(accountId, table, lease, round),
    );
  };

  const rounds = startRounds({
    retryAfter,
    lines,
    outdated: async () =>
      (await log.allCurrent()).flatMap(({ accountId, model }) =>
        model === wanted.model.id ? [] : [accountId],
      ),
    reembed: (accountId, round) => reembed(accountId, round).finally(() => leases.clear()),
    finish: embedders.release,
  });

  return {
    ...rounds,
    /** The lease of a copy that has not replaced its table yet. */
    leaseOf: (name: string): Lease | undefined => leases.get(name),
  };
}
