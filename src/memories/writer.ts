import { isDiskFull } from "../disk-errors.ts";
import { AppError } from "../errors.ts";
import { createTurns } from "../turns.ts";
import { createDraft, type Draft, type Outcome } from "./draft.ts";
import type { Filter } from "./filter.ts";
import type { Entry } from "./journal.ts";
import { checkQuota, createUsageCount, minus, plus, type Quota, type Usage } from "./quota.ts";
import { memoryIdOf } from "./rows.ts";
import type { MemoryTable } from "./table.ts";

/** Writes something in a transaction, and returns what takes it back in another. */
export type Alongside = () => (() => void) | undefined;

/** A change of single memories. If `apply` throws, this change fails and the others go on. */
export interface Change<Result> {
  /** Memories that `apply` reads. */
  ids: readonly string[];
  apply(draft: Draft): Result;
  /** A write to the database that is made if and only if the change is. */
  alongside?: Alongside;
}

/** The table takes no writes any more: it is being removed, or another one takes its place. */
export class WriterEnded extends Error {
  override readonly name = "WriterEnded";
}

/** The one way to write to a table. */
export interface Writer {
  change<Result>(change: Change<Result>): Promise<Result>;
  /**
   * Whether there is room for so much more now. It may be gone when it is written.
   * @throws AppError `conflict`
   */
  checkRoom(growth: Usage): Promise<void>;
  /** Removes all memories that a filter lets pass and returns how many there were. */
  removeMatching(filter: Filter): Promise<number>;
  /**
   * Runs a task between two commits, with nothing in the table that was not answered.
   * @throws what keeps a failed commit from being undone
   */
  pause<Result>(task: () => Promise<Result>): Promise<Result>;
  /** Whether no failed commit is left to be undone. */
  isSettled(): boolean;
  /**
   * Refuses all writes from now on, with `WriterEnded`, and runs a task when the last commit is
   * done. When the task fails, writes are taken again.
   */
  end<Result>(task: () => Promise<Result>): Promise<Result>;
}

/** Where the writer makes its writes durable. */
export interface WriterJournal {
  append(entry: Entry): Promise<number>;
  /** @param takeBack what was written alongside */
  cancel(seq: number, takeBack: () => void): void;
}

interface Job {
  ids: readonly string[];
  filter: Filter | null;
  alongside: Alongside | undefined;
  apply(draft: Draft): void;
  done(removed: number): void;
  fail(error: unknown): void;
}

/** Changes that one commit takes at most, and that may wait for the next one. */
const GROUP = 512;
const MAX_WAITING = 4_096;

/**
 * Writes to one table, one commit at a time. While a commit runs, changes wait, and the next commit
 * takes all of them (group commit): each is answered when it is in the table and in the journal.
 * @param quotaOf what the table may hold from now on; null for all
 * @param onCommit is told of every commit
 */
export function createWriter({
  table,
  journal,
  quotaOf,
  onCommit,
}: {
  table: MemoryTable;
  journal: WriterJournal;
  quotaOf: () => Quota | null;
  onCommit: (outcome: Outcome) => void;
}): Writer {
  const usage = createUsageCount(table.usage);
  let waiting: Job[] = [];
  let last: Promise<unknown> = Promise.resolve();
  /** Undoes what a failed commit left, before the next one. */
  let undo: (() => Promise<void>) | null = null;
  let hasFailed = false;
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
      await undo?.();
      await commitGroup(group);
    } catch (cause) {
      const message = isDiskFull(cause)
        ? "The server's disk is full: nothing was written. Try again when there is space."
        : "The memories could not be written. Try again.";
      const error = new AppError("unavailable", message, { cause, retryAfter: 1 });
      for (const job of group) job.fail(error);
    }
  };

  const commitGroup = async (group: readonly Job[]) => {
    const removals = new Map<Job, string[]>();
    for (const job of group) {
      if (job.filter) removals.set(job, await table.selectRows(job.filter));
    }
    const loaded = await table.load([...new Set(group.flatMap((job) => job.ids))]);
    const draft = createDraft(loaded, [...new Set([...removals.values()].flat())]);
    const refusals: (() => void)[] = [];
    const quota = quotaOf();
    const used = quota && (await usage.current());
    const applied = group.filter((job) => {
      try {
        draft.attempt(() => {
          const before = draft.growth();
          job.apply(draft);
          if (!quota || !used) return;
          checkQuota(quota, plus(used, before), minus(draft.growth(), before));
        });
        return true;
      } catch (error) {
        // Not yet: what it found may be another change of this group, which may fail.
        refusals.push(() => job.fail(error));
        return false;
      }
    });
    const outcome = draft.outcome();
    const alongside = applied.map((job) => job.alongside).filter((write) => write !== undefined);
    if (outcome.written.length + outcome.removed.length > 0) {
      await commit(outcome, alongside);
      // Of what a filter removes, nobody has read how long it is.
      usage.note(removals.size > 0 ? null : draft.growth());
      onCommit(outcome);
    }
    for (const refuse of refusals) refuse();
    for (const job of applied) {
      const rows = removals.get(job) ?? [];
      job.done(rows.filter((id) => memoryIdOf(id) === id).length);
    }
  };

  const commit = async (outcome: Outcome, alongside: Alongside[]) => {
    const undos: ReturnType<Alongside>[] = [];
    const version = await table.version();
    // Of a large batch each step takes tens of milliseconds.
    const turn = createTurns();
    const rows = outcome.written.length > 0 ? table.encode(outcome.written) : null;
    await turn();
    const written = rows && table.serialize(rows);
    await turn();
    const journaling = journal.append({
      written,
      removed: outcome.removed,
      alongside: alongside.map((write) => () => void undos.push(write())),
    });
    // Both at once: LanceDB works in threads of its own while the journal waits for the disk. After
    // a failure one by one, so that nobody reads what is likely to be undone.
    const write = () => table.write(rows, outcome);
    const [stored, journaled] = await Promise.allSettled([
      hasFailed ? journaling.then(write) : write(),
      journaling,
    ]);
    hasFailed = stored.status === "rejected" || journaled.status === "rejected";
    if (!hasFailed) return;
    const takeBack = () => {
      for (const each of undos) each?.();
    };
    let entry = journaled.status === "fulfilled" ? journaled.value : null;
    undo = async () => {
      try {
        // First, because a restart goes by the journal and not by what is in the table.
        if (entry !== null) journal.cancel(entry, takeBack);
        entry = null;
      } finally {
        await table.restore(version);
      }
      undo = null;
    };
    // When it can't be undone now, it is before anything else is done.
    await undo().catch(() => {});
    throw [stored, journaled].find((result) => result.status === "rejected")?.reason;
  };

  return {
    change: ({ ids, apply, alongside }) =>
      new Promise((resolve, reject) => {
        let answer: () => void = () => reject(new Error("a change was answered before it ran"));
        enqueue({
          ids,
          filter: null,
          alongside,
          apply(draft) {
            const result = apply(draft);
            answer = () => resolve(result);
          },
          done: () => answer(),
          fail: reject,
        });
      }),
    async checkRoom(growth) {
      const quota = quotaOf();
      if (quota) checkQuota(quota, usage.known() ?? (await this.pause(usage.current)), growth);
    },
    removeMatching: (filter) =>
      new Promise((resolve, reject) => {
        const none = { ids: [], alongside: undefined, apply() {} };
        enqueue({ ...none, filter, done: resolve, fail: reject });
      }),
    pause: (task) =>
      takeTurn(async () => {
        await undo?.();
        return await task();
      }),
    isSettled: () => undo === null,
    end(task) {
      hasEnded = true;
      return takeTurn(async () => {
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
