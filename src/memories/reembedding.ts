import type { Embedders } from "../embedding/embedders.ts";
import type { Log as Lines } from "../log.ts";
import type { CurrentTable } from "./log/log.ts";
import { tableFor } from "./log/names.ts";
import type { OpenTables } from "./open-tables.ts";
import { type ReembeddingRounds, type Round, startRounds } from "./reembedding-rounds.ts";
import { createTableCopy } from "./table-copy.ts";

/** Milliseconds until all that failed are tried again. */
const RETRY_AFTER = 5_000;

/**
 * Embeds the tables of another model again, one after the other, while they are in use. For each
 * account whose vectors are another model's, a second table is written, memory by memory,
 * by the log like every write. When the two say the same, it takes the place of the first one, which
 * is removed. After a break the tables are compared, and the rest is embedded.
 */
export function createReembedding({
  use,
  end,
  current,
  setCurrent,
  forgetTable,
  embedders,
  lines,
}: {
  /** Refuses tables of accounts that were removed. */
  use: OpenTables["use"];
  end: OpenTables["end"];
  /** By account. */
  current: ReadonlyMap<string, CurrentTable>;
  setCurrent: (accountId: string, table: CurrentTable) => Promise<void>;
  /** Removes a table that nobody uses. */
  forgetTable: (name: string) => Promise<void>;
  embedders: Embedders;
  lines: Lines;
}): ReembeddingRounds {
  const { wanted } = embedders;
  /** By account: its former table, until it is removed. */
  const former = new Map<string, string>();

  const replace = async (accountId: string, from: string, to: string, round: Round) => {
    const filling = createTableCopy({ from, to, wanted, use });
    round.track(filling);
    await filling.compare();
    const { total, left } = filling;
    lines.info("reembedding_started", { accountId, memories: total, left });
    await filling.copy(round.mayGoOn);
    if (!round.mayGoOn()) return;
    await end(from, async () => {
      await filling.copy(round.mayGoOn);
      if (filling.left > 0) throw new Error("stopped");
      await setCurrent(accountId, { name: to, model: wanted.model.id });
      former.set(accountId, from);
    });
    lines.info("reembedding_done", { accountId, memories: total, model: wanted.model.id });
  };

  return startRounds({
    ...{ retryAfter: RETRY_AFTER, lines, finish: embedders.release },
    outdated: async () =>
      [...current].flatMap(([accountId, { model }]) =>
        model === wanted.model.id ? [] : [accountId],
      ),
    async remake(accountId, round) {
      const to = tableFor(accountId, wanted.model.id);
      const from = current.get(accountId)?.name;
      if (from !== undefined && from !== to) await replace(accountId, from, to, round);
      // Also when the other one has taken its place before, and it could not be removed then.
      const left = former.get(accountId);
      if (left !== undefined) await forgetTable(left);
      former.delete(accountId);
      return true;
    },
  });
}
