import type { EmbeddingModel } from "../../embedding/embedder.ts";
import type { Log as Lines } from "../../log.ts";
import { withTimeLimit } from "../../time-limit.ts";
import { tableFor } from "../log/names.ts";
import type { SharedLog } from "../log/shared-log.ts";
import type { OpenTables } from "../open-tables.ts";

/** When what others have done is looked at, in milliseconds. */
export const FOLLOWING = {
  /** Entries and bases of tables that are open here. */
  heads: 1_000,
  /** Tables that nobody has flushed in time, */
  overdue: 5_000,
  /** of which so many are flushed here at once. */
  overdueTables: 8,
  /** Answers that have expired. */
  answers: 600_000,
  /** Tables of another model that another process copies, or that could not be copied. */
  copies: 5_000,
  /** Copies for a model that is no longer in use. */
  abandonedCopies: 20_000,
};
export type Following = typeof FOLLOWING;

/**
 * Follows what other processes do to tables that are open here, and does what others have left: by itself,
 * so that forgotten text leaves this process too when nobody asks for it.
 */
export function startFollowing({
  log,
  tables,
  model,
  lines,
  every = FOLLOWING,
}: {
  log: SharedLog;
  tables: OpenTables;
  /** The one whose vectors all tables are to have. */
  model: EmbeddingModel;
  lines: Lines;
  every?: Following | undefined;
}): { stop(): Promise<void> } {
  const stopped = Promise.withResolvers<void>();
  let isStopped = false;

  const repeat = async (what: string, after: number, task: () => Promise<void>) => {
    while (!isStopped) {
      // Processes that start together do not all come together.
      await withTimeLimit(stopped.promise, after * (0.75 + Math.random() / 2), () => {});
      if (isStopped) return;
      await task().catch((error) => lines.warn("following_failed", { what, cause: String(error) }));
    }
  };

  const followHeads = async () => {
    const names = tables.opened().map(({ name }) => name);
    if (names.length === 0) return;
    const heads = await log.heads(names);
    tables.follow(names, new Map(heads.map((head) => [head.table, head])));
  };

  const flushOverdue = async () => {
    for (const name of await log.overdue(every.overdueTables)) {
      if (isStopped) return;
      await tables.flushSoon(name).catch((error) => {
        lines.error("table_not_opened", { table: name, cause: String(error) });
      });
    }
  };

  const forgetCopies = async () => {
    const isWanted = (table: string, accountId: string) => table === tableFor(accountId, model.id);
    for (const table of await log.forgetCopies(isWanted)) lines.info("copy_forgotten", { table });
  };

  const running = Promise.all([
    repeat("heads", every.heads, followHeads),
    repeat("overdue", every.overdue, flushOverdue),
    repeat("copies", every.abandonedCopies, forgetCopies),
    repeat("answers", every.answers, log.expireAnswers),
  ]);
  return {
    async stop() {
      isStopped = true;
      stopped.resolve();
      await running;
    },
  };
}
