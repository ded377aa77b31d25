import type { EmbeddingModel } from "../../embedding/embedder.ts";
import type { Log as Logger } from "../../log.ts";
import { type Loop, spread, startLoop } from "../../timing/loop.ts";
import { tableFor } from "../log/log.ts";
import type { SharedLog, TablePosition } from "../log/shared-log.ts";
import type { OpenTables } from "../store/open-tables.ts";

interface Query {
  running: Promise<unknown>;
  next: Promise<TablePosition | null> | null;
}

/**
 * Reads the positions of accounts. Callers that arrive while a query for the same account runs share the
 * next query, which begins after all of them have called.
 */
export function createPositions(log: Pick<SharedLog, "position">) {
  const queries = new Map<string, Query>();

  const read = (accountId: string): Promise<TablePosition | null> => {
    const running = log.position(accountId);
    const query: Query = { running, next: null };
    queries.set(accountId, query);
    const done = () => {
      if (query.next === null && queries.get(accountId) === query) queries.delete(accountId);
    };
    running.then(done, done);
    return running;
  };

  return (accountId: string): Promise<TablePosition | null> => {
    const present = queries.get(accountId);
    if (!present) return read(accountId);
    present.next ??= present.running.then(
      () => read(accountId),
      () => read(accountId),
    );
    return present.next;
  };
}

/** How often the work of other processes is checked, in milliseconds. */
export const FOLLOWING = {
  /** New entries and bases of tables that are open here. */
  heads: 1_000,
  /** Tables that no process has flushed in time, */
  overdue: 5_000,
  /** and the most of them that one check flushes. */
  overdueTables: 8,
  /** Expired answers to requests with an `Idempotency-Key`. */
  answers: 600_000,
  /** Tables of another model that another process copies, or whose copy failed. */
  copies: 5_000,
  /** Copies for a model that is no longer in use. */
  abandonedCopies: 20_000,
};
export type Following = typeof FOLLOWING;

/**
 * Reads what other processes write to tables that are open here, and does the work that other processes
 * have left undone. No request is needed for that: deleted text must leave this process too.
 */
export function startFollowing({
  log,
  tables,
  model,
  logger,
  every = FOLLOWING,
}: {
  log: SharedLog;
  tables: OpenTables;
  /** The model in use. */
  model: EmbeddingModel;
  logger: Logger;
  every?: Following | undefined;
}): Loop {
  const repeat = (
    what: string,
    after: number,
    task: (isStopped: () => boolean) => Promise<void>,
  ): Loop =>
    startLoop(async (isStopped) => {
      await task(isStopped).catch((error) => {
        logger.warn("following_failed", { what, cause: String(error) });
      });
      return spread(after);
    }, spread(after));

  const followHeads = async () => {
    const names = tables.opened().map(({ name }) => name);
    if (names.length === 0) return;
    const heads = await log.heads(names);
    tables.catchUp(names, new Map(heads.map((head) => [head.table, head])));
  };

  const flushOverdue = async (isStopped: () => boolean) => {
    for (const name of await log.overdue(every.overdueTables)) {
      if (isStopped()) return;
      await tables.flushSoon(name).catch((error) => {
        logger.error("table_not_opened", { table: name, cause: String(error) });
      });
    }
  };

  const forgetCopies = async () => {
    const isWanted = (table: string, accountId: string) => table === tableFor(accountId, model.id);
    for (const table of await log.forgetCopies(isWanted)) logger.info("copy_forgotten", { table });
  };

  const loops = [
    repeat("heads", every.heads, followHeads),
    repeat("overdue", every.overdue, flushOverdue),
    repeat("copies", every.abandonedCopies, forgetCopies),
    repeat("answers", every.answers, log.expireAnswers),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
