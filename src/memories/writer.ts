import { DatabaseUnavailable } from "../db/postgres-errors.ts";
import { isDiskFull } from "../disk-errors.ts";
import { AppError, CtxdError } from "../errors.ts";
import { commitGroup, type Job, type Sharing } from "./commit.ts";
import type { Draft } from "./draft.ts";
import type { Filter } from "./filter.ts";
import { type Answer, AnswersTaken, type Log } from "./log/log.ts";
import type { Outcome } from "./log/pending.ts";
import { checkQuota, type QuotaOf, type Usage } from "./quota.ts";
import type { StoredMemory } from "./rows.ts";
import type { MemoryTable } from "./table.ts";

/** A change of single memories. If `apply` throws, this change fails and the others go on. */
export interface Change<Result> {
  /** Memories that `apply` reads. */
  ids: readonly string[];
  /** Whether it needs their vectors too. */
  withVectors?: boolean;
  /** Whether it reads what is linked with them: next to them, or all of their histories. */
  links?: "near" | "chain" | undefined;
  /** Memories of which `apply` asks whether others have the same text. */
  withTextsOf?: readonly StoredMemory[];
  apply(draft: Draft): Result;
  /** What a request with an `Idempotency-Key` is answered from now on, if the change is made. */
  answer?: Answer | undefined;
}

/**
 * The table takes no writes any more: it is being removed, or another one takes its place. Or it is
 * not what the log has: then it is to be opened again.
 */
export class WriterEnded extends CtxdError {
  override readonly name = "WriterEnded";
  readonly code = "writer_ended";
  constructor() {
    super("the table takes no writes any more");
  }
}

export type Writer = ReturnType<typeof createWriter>;

/** Changes that one commit takes at most, and that may wait for the next one. */
const GROUP = 512;
const MAX_WAITING = 4_096;

/**
 * The one way to write to a table: one commit at a time. While a commit runs, changes wait, and the next commit
 * takes all of them (group commit): each is answered when the log and the view have it.
 * @param quotaOf what the table may hold from now on; null for all
 * @param onCommit is told of every commit
 * @param sharing where other processes write to the table too
 */
export function createWriter({
  table,
  log,
  quotaOf,
  onCommit,
  sharing = null,
}: {
  table: MemoryTable;
  log: Pick<Log, "append">;
  quotaOf: () => ReturnType<QuotaOf>;
  onCommit: (outcome: Outcome) => void;
  sharing?: Sharing | null;
}) {
  let waiting: Job[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let hasEnded = false;

  const takeTurn = <Result>(task: () => Promise<Result>): Promise<Result> => {
    const result = last.then(task);
    last = result.catch(() => {});
    return result;
  };

  const enqueue = (job: Job) => {
    if (hasEnded) throw new WriterEnded();
    if (waiting.length >= MAX_WAITING) {
      throw new AppError("unavailable", "Too many writes are waiting. Try again in a moment.", {
        retryAfter: 1,
      });
    }
    waiting.push(job);
    // The first of a group makes its turn; those that come before it takes what waits.
    if (waiting.length === 1) void takeTurn(commitWaiting);
  };

  const commitWaiting = async () => {
    const group = waiting.slice(0, GROUP);
    waiting = waiting.slice(GROUP);
    if (waiting.length > 0) void takeTurn(commitWaiting);
    try {
      await commitGroup(group, { table, log, quotaOf, onCommit, sharing });
    } catch (cause) {
      for (const job of group) job.fail(failure(cause));
    }
  };

  return {
    change: <Result>({ apply, ...change }: Change<Result>): Promise<Result> =>
      new Promise((resolve, reject) => {
        let answer: () => void = () => reject(new Error("a change was answered before it ran"));
        enqueue({
          ...change,
          filter: null,
          apply(draft) {
            const result = apply(draft);
            answer = () => resolve(result);
          },
          done: () => answer(),
          fail: reject,
        });
      }),
    /**
     * Whether there is room for so much more now. It may be gone when it is written.
     * @throws AppError `conflict`
     */
    async checkRoom(growth: Usage): Promise<void> {
      const quota = await quotaOf();
      if (quota) checkQuota(quota, table.usage, growth);
    },
    /** Removes all memories that a filter lets pass and returns how many there were. */
    removeMatching: (filter: Filter): Promise<number> =>
      new Promise((resolve, reject) => {
        enqueue({ ids: [], filter, apply() {}, done: resolve, fail: reject });
      }),
    /**
     * Takes in what others have committed up to an entry, at the least.
     * @throws WriterEnded when the table must be opened again
     */
    async catchUp(seq: number): Promise<void> {
      if (!sharing || table.settled >= seq) return;
      await takeTurn(async () => {
        if (table.seq < seq) await sharing.replay();
      });
    },
    /**
     * Refuses all writes from now on, with `WriterEnded`, and runs a task when the last commit is
     * done. When the task fails, writes are taken again.
     */
    end<Result>(task: () => Promise<Result>): Promise<Result> {
      hasEnded = true;
      return takeTurn(async () => {
        // The task of another end may have failed.
        hasEnded = true;
        try {
          const result = await task();
          // There were more than the last commit could take.
          for (const job of waiting.splice(0)) job.fail(new WriterEnded());
          return result;
        } catch (error) {
          hasEnded = false;
          throw error;
        }
      });
    },
  };
}

/** What a request is told whose write failed. */
function failure(cause: unknown): unknown {
  if (cause instanceof DatabaseUnavailable || cause instanceof WriterEnded) return cause;
  if (cause instanceof AnswersTaken) return cause;
  const message = isDiskFull(cause)
    ? "The server's disk is full: nothing was written. Try again when there is space."
    : "The memories could not be written. Try again.";
  return new AppError("unavailable", message, { cause, retryAfter: 1 });
}
