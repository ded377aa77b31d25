import type { Embedders } from "../../embedding/chosen-model.ts";
import { AppError } from "../../errors.ts";
import type { Log as Lines } from "../../log.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import { tableFor } from "../log/log.ts";
import type { Outcome } from "../log/pending.ts";
import type { CurrentTable } from "../log/records.ts";
import type { OpenTables } from "../store/open-tables.ts";
import type { MemoryTable } from "../table/table.ts";
import { createTableCopy, type TableCopy } from "./table-copy.ts";

/** Milliseconds between two log lines about the progress. */
const LOG_INTERVAL_MS = 30_000;

/** How embedding an account again reports and stops. */
export interface Round {
  /** Sets the running copy, which receives commits of its table from now on. */
  track(copy: TableCopy): void;
  /** Whether to continue. */
  mayContinue(): boolean;
}

export type ReembeddingRounds = ReturnType<typeof startRounds>;

/**
 * Embeds the accounts that have vectors of another model, one by one. Failed accounts are tried again after
 * a pause, until all are done.
 * @param outdated returns the ids of the accounts
 * @param reembed embeds an account again, and returns whether it is done
 * @param finish is called when all accounts are done
 * @param retryAfter milliseconds until failed accounts are tried again
 */
export function startRounds({
  outdated,
  reembed,
  finish,
  retryAfter,
  lines,
}: {
  outdated: () => Promise<string[]>;
  reembed: (accountId: string, round: Round) => Promise<boolean>;
  finish: () => void;
  retryAfter: number;
  lines: Lines;
}) {
  const stopped = Promise.withResolvers<void>();
  let isStopped = false;
  let copy: TableCopy | null = null;
  let [accounts, accountsRemaining] = [0, 0];
  let logged = performance.now();

  const round: Round = {
    track(started) {
      copy = started;
    },
    mayContinue() {
      if (copy && performance.now() - logged >= LOG_INTERVAL_MS) {
        logged = performance.now();
        lines.info("reembedding", {
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
      if (!isStopped) lines.error("reembedding_failed", { accountId, cause: String(error) });
      return false;
    } finally {
      copy = null;
    }
  };

  const run = async () => {
    let waiting = await outdated();
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
    finish();
  };
  const running = run().catch((error) => {
    lines.error("reembedding_failed", { cause: String(error) });
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
