import type { Embedders } from "../../embedding/chosen-model.ts";
import { AppError } from "../../errors.ts";
import type { Log as Logger } from "../../log.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import { type LocalLog, type Log, tableFor } from "../log/log.ts";
import type { Outcome } from "../log/pending.ts";
import type { CurrentTables } from "../store/current-tables.ts";
import type { OpenTables } from "../store/open-tables.ts";
import type { MemoryTable } from "../table/table.ts";
import { createTableCopy, type TableCopy, type TableCopyOptions } from "./table-copy.ts";

/** Milliseconds between two log lines about the progress. */
const LOG_INTERVAL_MS = 30_000;

/** How embedding an account again reports and stops. */
export interface Round {
  /** Starts the copy of a table. It receives the commits of the table from now on. */
  startCopy(accountId: string, options: Omit<TableCopyOptions, "wanted">): Promise<TableCopy>;
  /** Whether to continue. */
  mayContinue(): boolean;
}

export type ReembeddingRounds = ReturnType<typeof startRounds>;

/**
 * Embeds the accounts that have vectors of another model, one by one. Failed accounts are tried again after
 * a pause, until all are done.
 * @param reembed embeds an account again, and returns whether it is done
 * @param retryAfter milliseconds until failed accounts are tried again
 */
export function startRounds({
  log,
  embedders: { wanted, release },
  reembed,
  retryAfter,
  logger,
}: {
  log: Pick<Log, "allCurrent">;
  embedders: Embedders;
  reembed: (accountId: string, round: Round) => Promise<boolean>;
  retryAfter: number;
  logger: Logger;
}) {
  const stopped = Promise.withResolvers<void>();
  let isStopped = false;
  let copy: TableCopy | null = null;
  let [accounts, accountsRemaining] = [0, 0];
  let logged = performance.now();

  const round: Round = {
    async startCopy(accountId, options) {
      const started = createTableCopy({ ...options, wanted });
      copy = started;
      await started.compare();
      const { total, remaining } = started;
      logger.info("reembedding_started", { accountId, memories: total, left: remaining });
      return started;
    },
    mayContinue() {
      if (copy && performance.now() - logged >= LOG_INTERVAL_MS) {
        logged = performance.now();
        logger.info("reembedding", {
          left: copy.remaining,
          memories: copy.total,
          accountsLeft: accountsRemaining,
        });
      }
      return !isStopped;
    },
  };

  const attempt = async (accountId: string): Promise<boolean> => {
    try {
      return await reembed(accountId, round);
    } catch (error) {
      // The account has been removed.
      if (error instanceof AppError && error.code === "not_found") return true;
      if (!isStopped) logger.error("reembedding_failed", { accountId, cause: String(error) });
      return false;
    } finally {
      copy = null;
    }
  };

  const run = async () => {
    let waiting = (await log.allCurrent())
      .filter(({ model }) => model !== wanted.model.id)
      .map(({ accountId }) => accountId);
    [accounts, accountsRemaining] = [waiting.length, waiting.length];
    while (waiting.length > 0) {
      const failed: string[] = [];
      for (const accountId of waiting) {
        const isDone = await attempt(accountId);
        if (isStopped) return;
        if (isDone) accountsRemaining--;
        else failed.push(accountId);
      }
      waiting = failed;
      if (failed.length > 0) await withTimeLimit(stopped.promise, retryAfter, () => {});
      if (isStopped) return;
    }
    release();
  };
  const running = run().catch((error) => {
    logger.error("reembedding_failed", { cause: String(error) });
  });

  return {
    /** Receives every commit, so that the running copy follows its table. */
    noteCommit({ name, seq }: Pick<MemoryTable, "name" | "seq">, outcome: Outcome): void {
      if (name === copy?.from) copy.note(seq, outcome);
    },
    /** The finished share, 0 to 1; null when no account is outdated. */
    progress: (): number | null =>
      accountsRemaining === 0
        ? null
        : 1 - (accountsRemaining - 1 + (copy?.remainingShare ?? 1)) / accounts,
    /** Resolves when the current text is embedded. The next process, or another one, continues. */
    async stop(): Promise<void> {
      isStopped = true;
      stopped.resolve();
      await running;
    },
  };
}

/** What background work uses of the tables of a data folder. */
export interface LocalTables {
  log: LocalLog;
  /** Refuses tables of removed accounts. */
  tables: Pick<OpenTables, "use" | "end">;
  current: Pick<CurrentTables, "all" | "set">;
  /** Removes a replaced table. */
  forgetTable: (name: string) => Promise<void>;
  logger: Logger;
}

/** Milliseconds until failed accounts are tried again. */
const RETRY_MS = 5_000;

/**
 * Embeds the tables of another model again, one by one, while they are in use. Each gets a copy with the
 * new model's vectors, written through the log like any table. When both have the same memories, the copy
 * replaces the first table, which is removed. After a restart the two are compared, and only missing
 * memories are embedded.
 */
export function createReembedding({
  log,
  tables,
  current,
  forgetTable,
  logger,
  embedders,
}: LocalTables & { embedders: Embedders }): ReembeddingRounds {
  const model = embedders.wanted.model.id;
  /** Replaced tables that are not removed yet, by account. */
  const former = new Map<string, string>();

  const replace = async (accountId: string, from: string, to: string, round: Round) => {
    const copy = await round.startCopy(accountId, { from, to, use: tables.use });
    await copy.run(round.mayContinue);
    if (!round.mayContinue()) return;
    await tables.end(from, async () => {
      await copy.run(round.mayContinue);
      if (copy.remaining > 0) throw new Error("stopped");
      await current.set(accountId, { name: to, model });
      former.set(accountId, from);
    });
    logger.info("reembedding_done", { accountId, memories: copy.total, model });
  };

  return startRounds({
    log,
    embedders,
    retryAfter: RETRY_MS,
    logger,
    async reembed(accountId, round) {
      const to = tableFor(accountId, model);
      const from = current.all.get(accountId)?.name;
      if (from !== undefined && from !== to) await replace(accountId, from, to, round);
      // Also after an earlier round that replaced the table and could not remove it.
      const replaced = former.get(accountId);
      if (replaced !== undefined) await forgetTable(replaced);
      former.delete(accountId);
      return true;
    },
  });
}
