import type { Embedders } from "../../embedding/embedders.ts";
import type { Log as Lines } from "../../log.ts";
import { tableFor } from "../log/names.ts";
import type { CurrentTable } from "../log/records.ts";
import type { OpenTables } from "../store/open-tables.ts";
import { type ReembeddingRounds, type Round, startRounds } from "./reembedding-rounds.ts";
import { createTableCopy } from "./table-copy.ts";

/** Milliseconds until failed accounts are tried again. */
const RETRY_MS = 5_000;

/**
 * Embeds the tables of another model again, one by one, while they are in use. Each gets a copy with the
 * new model's vectors, written through the log like any table. When both have the same memories, the copy
 * replaces the first table, which is removed. After a restart the two are compared, and only missing
 * memories are embedded.
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
  /** Refuses tables of removed accounts. */
  use: OpenTables["use"];
  end: OpenTables["end"];
  /** By account. */
  current: ReadonlyMap<string, CurrentTable>;
  setCurrent: (accountId: string, table: CurrentTable) => Promise<void>;
  /** Removes a replaced table. */
  forgetTable: (name: string) => Promise<void>;
  embedders: Embedders;
  lines: Lines;
}): ReembeddingRounds {
  const { wanted } = embedders;
  /** Replaced tables that are not removed yet, by account. */
  const former = new Map<string, string>();

  const replace = async (accountId: string, from: string, to: string, round: Round) => {
    const copy = createTableCopy({ from, to, wanted, use });
    round.track(copy);
    await copy.compare();
    const { total, remaining } = copy;
    lines.info("reembedding_started", { accountId, memories: total, left: remaining });
    await copy.run(round.mayContinue);
    if (!round.mayContinue()) return;
    await end(from, async () => {
      await copy.run(round.mayContinue);
      if (copy.remaining > 0) throw new Error("stopped");
      await setCurrent(accountId, { name: to, model: wanted.model.id });
      former.set(accountId, from);
    });
    lines.info("reembedding_done", { accountId, memories: total, model: wanted.model.id });
  };

  return startRounds({
    retryAfter: RETRY_MS,
    lines,
    finish: embedders.release,
    outdated: async () =>
      [...current].flatMap(([accountId, { model }]) =>
        model === wanted.model.id ? [] : [accountId],
      ),
    async reembed(accountId, round) {
      const to = tableFor(accountId, wanted.model.id);
      const from = current.get(accountId)?.name;
      if (from !== undefined && from !== to) await replace(accountId, from, to, round);
      // Also after an earlier round that replaced the table and could not remove it.
      const replaced = former.get(accountId);
      if (replaced !== undefined) await forgetTable(replaced);
      former.delete(accountId);
      return true;
    },
  });
}
