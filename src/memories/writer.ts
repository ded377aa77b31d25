import { isDiskFull } from "../disk-errors.ts";
import { AppError } from "../errors.ts";
import { createTurns } from "../turns.ts";
import { createDraft, type Draft } from "./draft.ts";
import type { Filter } from "./filter.ts";
import type { Answer, Log } from "./log/log.ts";
import type { Outcome } from "./log/pending.ts";
import { checkQuota, minus, plus, type Quota, type Usage } from "./quota.ts";
import type { MemoryTable } from "./table.ts";

/** A change of single memories. If `apply` throws, this change fails and the others go on. */
export interface Change<Result> {
  /** Memories that `apply` reads. */
  ids: readonly string[];
  /** Whether it needs their vectors too. */
  withVectors?: boolean;
  apply(draft: Draft): Result;
  /** What a request with an `Idempotency-Key` is answered from now on, if the change is made. */
  answer?: Answer | undefined;
}

/** The table takes no writes any more: it is being removed, or another one takes its place. */
export class WriterEnded extends Error {
  override readonly name = "WriterEnded";
}

export type Writer = ReturnType<typeof createWriter>;

interface Job extends Pick<Change<unknown>, "ids" | "withVectors" | "answer"> {
  /** What it removes, besides what `apply` does. */
  filter: Filter | null;
  apply(draft: Draft): void;
  /** @param removed how many memories the filter let pass */
  done(removed: number): void;
  fail(error: unknown): void;
}

/** Changes that one commit takes at most, and that may wait for the next one. */
const GROUP = 512;
const MAX_WAITING = 4_096;

/**
 * The one way to write to a table: one commit at a time. While a commit runs, changes wait, and the next commit
 * takes all of them (group commit): each is answered when the log and the view have it.
 * @param quotaOf what the table may hold from now on; null for all
 * @param onCommit is told of every commit
 */
export function createWriter({
  table,
  log,
  quotaOf,
  onCommit,
}: {
  table: MemoryTable;
  log: Pick<Log, "append">;
  quotaOf: () => Promise<Quota | null>;
  onCommit: (outcome: Outcome) => void;
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
      await commitGroup(group, { table, log, quota: await quotaOf(), onCommit });
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

/** What a commit goes by. */
interface Commit {
  table: MemoryTable;
  log: Pick<Log, "append">;
  quota: Quota | null;
  onCommit: (outcome: Outcome) => void;
}

/** Makes the changes of a group in one entry of the log, and answers each. */
async function commitGroup(group: readonly Job[], { quota, ...commit }: Commit): Promise<void> {
  const { table } = commit;
  const { matches, draft } = await read(table, group);
  const refusals: (() => void)[] = [];
  const removed = new Map<Job, number>();
  // What a filter lets pass was read before the group: so it comes before what the group changes.
  const applied = [...group.filter(hasFilter), ...group.filter((job) => !hasFilter(job))].filter(
    (job) => {
      try {
        draft.attempt(() => {
          const before = draft.growth();
          const present = (matches.get(job) ?? []).filter((id) => draft.get(id) !== null);
          for (const id of present) draft.remove(id);
          removed.set(job, present.length);
          job.apply(draft);
          if (quota) checkQuota(quota, plus(table.usage, before), minus(draft.growth(), before));
        });
        return true;
      } catch (error) {
        // Not yet: what it found may be another change of this group, which may fail.
        refusals.push(() => job.fail(error));
        return false;
      }
    },
  );
  const answers = applied.flatMap(({ answer }) => answer ?? []);
  await append(draft, answers, commit);
  for (const refuse of refusals) refuse();
  for (const job of applied) job.done(removed.get(job) ?? 0);
}

const hasFilter = ({ filter }: Job) => filter !== null;

/** What the jobs of a group read, and what their filters let pass. */
async function read(table: MemoryTable, group: readonly Job[]) {
  const matches = new Map<Job, string[]>();
  for (const job of group) if (job.filter) matches.set(job, await table.select(job.filter));
  const idsOf = (jobs: readonly Job[]) => jobs.flatMap(({ ids }) => ids);
  const wanted = new Set([...idsOf(group), ...[...matches.values()].flat()]);
  const rows = await table.find([...wanted]);
  const withVectors = new Set(idsOf(group.filter((job) => job.withVectors)));
  const whole = await table.load([...withVectors]);
  return { matches, draft: createDraft(rows, whole) };
}

async function append(
  draft: ReturnType<typeof createDraft>,
  answers: Answer[],
  { table, log, onCommit }: Omit<Commit, "quota">,
): Promise<void> {
  const outcome = draft.outcome();
  const { written, removed, hasRemains } = outcome;
  if (written.length + removed.length === 0) return;
  const usage = plus(table.usage, draft.growth());
  const turn = createTurns();
  const bytes = written.length > 0 ? table.encode(written) : null;
  await turn();
  const model = table.model.id;
  const entry = { model, written: bytes, removed, hasRemains, usage, answers };
  const seq = await log.append(table.name, entry);
  await table.apply(seq, outcome, usage);
  onCommit(outcome);
}

/** What a request is told whose write failed. */
function failure(cause: unknown): AppError {
  const message = isDiskFull(cause)
    ? "The server's disk is full: nothing was written. Try again when there is space."
    : "The memories could not be written. Try again.";
  return new AppError("unavailable", message, { cause, retryAfter: 1 });
}
