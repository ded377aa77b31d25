import { AppError } from "../../errors.ts";
import type { Log as Lines } from "../../log.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import type { Outcome } from "../log/pending.ts";
import type { MemoryTable } from "../table/table.ts";
import type { TableCopy } from "./table-copy.ts";

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
