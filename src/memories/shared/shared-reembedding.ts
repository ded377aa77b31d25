import { randomUUID } from "node:crypto";
import type { Embedders } from "../../embedding/embedders.ts";
import { CtxdError } from "../../errors.ts";
import type { Log as Lines } from "../../log.ts";
import type { Log } from "../log/log.ts";
import { tableFor } from "../log/names.ts";
import type { Lease, SharedLog } from "../log/shared-log.ts";
import type { OpenTables } from "../open-tables.ts";
import { type Round, startRounds } from "../reembedding-rounds.ts";
import { createTableCopy } from "../table-copy.ts";
import { withLease } from "./held-lease.ts";

/** Something was written elsewhere while a table was to take the place of another one. */
class WrittenMeanwhile extends CtxdError {
  override readonly name = "WrittenMeanwhile";
  readonly code = "written_meanwhile";
  constructor() {
    super("another process wrote to the table meanwhile");
  }
}

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
  /** Leases of the copies that are being written here, by their names. */
  const leases = new Map<string, Lease>();

  /** Uses a table with all that was written to it anywhere. */
  const useNewest: OpenTables["use"] = async (name, task) => {
    const [head] = await shared.heads([name]);
    return await tables.use(name, async (open) => {
      if (head) await open.writer.catchUp(head.seq);
      return await task(open);
    });
  };

  const replace = async (accountId: string, from: string, lease: Lease, round: Round) => {
    const to = { name: tableFor(accountId, wanted.model.id), model: wanted.model.id };
    leases.set(to.name, lease);
    let isInTurn = false;
    const filling = createTableCopy({
      ...{ from, to: to.name, wanted },
      // In the turn of its writer nothing can be taken in.
      use: (name, task) => (isInTurn && name === from ? tables.use : useNewest)(name, task),
    });
    round.track(filling);
    await filling.compare();
    const { total, left } = filling;
    lines.info("reembedding_started", { accountId, memories: total, left });
    const finish = async () => {
      isInTurn = true;
      try {
        await filling.copy(round.mayGoOn);
        if (!round.mayGoOn()) throw new WrittenMeanwhile();
        const seq = tables.opened().find(({ name }) => name === from)?.seq ?? 0;
        const isDone = await shared.replace(accountId, { from, seq, to }, lease);
        if (!isDone) throw new WrittenMeanwhile();
      } finally {
        isInTurn = false;
      }
    };
    for (let isDone = false; !isDone && round.mayGoOn(); ) {
      await filling.copy(round.mayGoOn);
      if (!round.mayGoOn()) return;
      isDone = await tables.end(from, finish).then(
        () => true,
        (error) => {
          if (error instanceof WrittenMeanwhile) return false;
          throw error;
        },
      );
    }
    if (round.mayGoOn()) lines.info("reembedding_done", { accountId, memories: total, ...to });
  };

  /** Tells whether nothing is left to be done for an account. */
  const remake = async (accountId: string, round: Round): Promise<boolean> => {
    const position = await shared.position(accountId);
    if (!position) return true;
    const { table, model } = position;
    if (model === wanted.model.id) return true;
    if (model === null && position.seq > 0) {
      // As an earlier version left it: the base knows its model.
      const made = await useNewest(table, async (open) => open.table.model.id);
      await log.setCurrent(accountId, { name: table, model: made });
      return await remake(accountId, round);
    }
    const parts = { table: accountId, owner };
    return await withLease(shared.copying, parts, (lease) =>
      replace(accountId, table, lease, round),
    );
  };

  const rounds = startRounds({
    ...{ retryAfter, lines },
    outdated: async () =>
      (await log.allCurrent()).flatMap(({ accountId, model }) =>
        model === wanted.model.id ? [] : [accountId],
      ),
    remake: (accountId, round) => remake(accountId, round).finally(() => leases.clear()),
    finish: embedders.release,
  });

  return {
    ...rounds,
    /** The lease under which a table is a copy that is not yet the account's. */
    leaseOf: (name: string): Lease | undefined => leases.get(name),
  };
}
