import { DatabaseUnavailable } from "../../db/database-error.ts";
import { AppError, CtxdError } from "../../errors.ts";
import { isDiskFull } from "../../system/disk-errors.ts";
import { AnswersTaken } from "../log/log.ts";
import type { Filter } from "../model/filter.ts";
import { checkQuota, type Usage } from "../model/quota.ts";
import { type Commit, commitGroup } from "./commit.ts";
import type { Change, QueuedChange } from "./draft.ts";

/**
 * The table takes no writes any more: it is being removed or replaced, or it differs from the log and must
 * be opened again.
 */
export class WriterEnded extends CtxdError {
  readonly code = "writer_ended";
  constructor() {
    super("the table takes no writes any more");
  }
}

/**
 * Runs a task, and again when its table has been replaced meanwhile or must be opened again.
 * @throws WriterEnded after the last try
 */
export async function retryReplaced<Result>(
  task: () => Promise<Result>,
  maxTries = Number.POSITIVE_INFINITY,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof WriterEnded) || tries === maxTries) throw error;
    }
  }
}

export type Writer = ReturnType<typeof createWriter>;

/** The most changes of one commit, and those that may wait. */
const MAX_GROUP = 512;
const MAX_WAITING = 4_096;

/**
 * The only way to write to a table: one commit at a time. Changes wait while a commit runs, and the next
 * commit makes all of them (group commit). A change is answered when the log and the view have it.
 */
export function createWriter(commit: Commit) {
  const { table, quotaOf, replay } = commit;
  const waiting: QueuedChange[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let hasEnded = false;

  const takeTurn = <Result>(task: () => Promise<Result>): Promise<Result> => {
    const result = last.then(task);
    last = result.catch(() => {});
    return result;
  };

  const enqueue = (change: QueuedChange) => {
    if (hasEnded) throw new WriterEnded();
    if (waiting.length >= MAX_WAITING) {
      throw new AppError("unavailable", "Too many writes are waiting. Try again in a moment.", {
        retryAfter: 1,
      });
    }
    waiting.push(change);
    // The first change of a group starts its commit. Changes that come before the commit's turn join it.
    if (waiting.length === 1) void takeTurn(commitWaiting);
  };

  /** The next changes of one commit. A lost lease must fail the changes of a copy, and no others. */
  const takeGroup = (): QueuedChange[] => {
    const other = waiting.findIndex(({ lease }) => lease !== waiting[0]?.lease);
    return waiting.splice(0, Math.min(MAX_GROUP, other === -1 ? waiting.length : other));
  };

  const commitWaiting = async () => {
    const group = takeGroup();
    if (waiting.length > 0) void takeTurn(commitWaiting);
    try {
      await commitGroup(group, commit);
    } catch (cause) {
      for (const change of group) change.fail(failure(cause));
    }
  };

  return {
    change: <Result>({ apply, ...input }: Change<Result>): Promise<Result> =>
      new Promise((resolve, reject) => {
        let answer: () => void = () => reject(new Error("a change was answered before it ran"));
        enqueue({
          ...input,
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
     * Checks early whether the quota allows this growth. The commit checks again.
     * @throws AppError `conflict`
     */
    async checkRoom(growth: Usage): Promise<void> {
      const quota = await quotaOf();
      if (quota) checkQuota(quota, table.usage, growth);
    },
    /**
     * Removes all memories that match a filter, some in each commit, and returns their number.
     * @param mayRelink whether a memory that was linked with a removed one may be changed
     */
    async removeMatching(filter: Filter, mayRelink?: QueuedChange["mayRelink"]): Promise<number> {
      const removeSome = () =>
        new Promise<{ removed: number; left: number }>((resolve, reject) => {
          const done = (removed: number, left: number) => resolve({ removed, left });
          enqueue({ ids: [], filter, mayRelink, apply() {}, done, fail: reject });
        });
      let { removed, left } = await removeSome();
      // Memories that are saved meanwhile may match too. They must not make this endless.
      while (left > 0) {
        const next = await removeSome();
        removed += next.removed;
        left = Math.min(left - Math.max(1, next.removed), next.left);
      }
      return removed;
    },
    /**
     * Reads what other processes have committed, at least up to an entry.
     * @throws WriterEnded when the table must be opened again
     */
    async catchUp(seq: number): Promise<void> {
      if (!replay || table.visibleSeq >= seq) return;
      await takeTurn(async () => {
        if (table.seq < seq) await replay();
      });
    },
    /**
     * Refuses all further writes with `WriterEnded`, and runs a task after the last commit. If the task
     * fails, the table takes writes again.
     */
    end<Result>(task: () => Promise<Result>): Promise<Result> {
      hasEnded = true;
      return takeTurn(async () => {
        // An earlier `end` whose task failed has reset this.
        hasEnded = true;
        try {
          const result = await task();
          // Changes that the last commit could not take.
          for (const change of waiting.splice(0)) change.fail(new WriterEnded());
          return result;
        } catch (error) {
          hasEnded = false;
          throw error;
        }
      });
    },
  };
}

/** The error that a request receives when its write failed. */
function failure(cause: unknown): unknown {
  if (cause instanceof DatabaseUnavailable || cause instanceof WriterEnded) return cause;
  if (cause instanceof AnswersTaken) return cause;
  const message = isDiskFull(cause)
    ? "The server's disk is full: nothing was written. Try again when there is space."
    : "The memories could not be written. Try again.";
  return new AppError("unavailable", message, { cause, retryAfter: 1 });
}
