import { AppError } from "../errors.ts";
import type { Log as Lines } from "../log.ts";
import { withTimeLimit } from "../time-limit.ts";
import type { Outcome } from "./log/pending.ts";
import type { TableCopy } from "./table-copy.ts";

/** Milliseconds between two lines in the log. */
const LOG_EVERY = 30_000;

/** What embedding an account again goes by. */
export interface Round {
  /** Makes a copy the one under way: commits are noted in it from now on. */
  track(copy: TableCopy): void;
  /** Whether to go on with it. */
  mayGoOn(): boolean;
}

export type ReembeddingRounds = ReturnType<typeof startRounds>;

/**
 * Works through accounts whose vectors are another model's, one after the other. Those that are not
 * done are tried again after a pause, until none is left.
 * @param outdated ids of the accounts
 * @param remake embeds an account again, and tells whether nothing is left to be done for it
 * @param finish is called when all are done
 * @param retryAfter milliseconds until those that are not done are tried again
 */
export function startRounds({
  outdated,
  remake,
  finish,
  retryAfter,
  lines,
}: {
  outdated: () => Promise<string[]>;
  remake: (accountId: string, round: Round) => Promise<boolean>;
  finish: () => void;
  retryAfter: number;
  lines: Lines;
}) {
  const stopped = Promise.withResolvers<void>();
  let isStopped = false;
  let copy: TableCopy | null = null;
  let [accounts, accountsLeft] = [0, 0];
  let logged = performance.now();

  const round: Round = {
    track(filling) {
      copy = filling;
    },
    mayGoOn() {
      if (copy && performance.now() - logged >= LOG_EVERY) {
        logged = performance.now();
        lines.info("reembedding", { left: copy.left, memories: copy.total, accountsLeft });
      }
      return !isStopped;
    },
  };

  const attempt = async (accountId: string): Promise<boolean> => {
    try {
      return await remake(accountId, round);
    } catch (error) {
      // The account was removed.
      if (error instanceof AppError && error.code === "not_found") return true;
      if (!isStopped) lines.error("reembedding_failed", { accountId, cause: String(error) });
      return false;
    } finally {
      copy = null;
    }
  };

  const run = async () => {
    let waiting = await outdated();
    [accounts, accountsLeft] = [waiting.length, waiting.length];
    while (waiting.length > 0) {
      const failed: string[] = [];
      for (const accountId of waiting) {
        const isDone = await attempt(accountId);
        if (isStopped) return;
        if (isDone) accountsLeft--;
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
    /** Receives every commit: what changes in a table changes in the one that is being made. */
    noteCommit(name: string, outcome: Outcome): void {
      if (name === copy?.from) copy.note(outcome);
    },
    /** The share that is done, 0 to 1; null when nothing is to be done. */
    progress: (): number | null =>
      accountsLeft === 0 ? null : 1 - (accountsLeft - 1 + (copy?.leftShare ?? 1)) / accounts,
    /** Resolves when the text under way is done. The rest is for the next process, or another one. */
    async stop(): Promise<void> {
      isStopped = true;
      stopped.resolve();
      await running;
    },
  };
}
