import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseUnavailable, OutcomeUnknown } from "../db/postgres-errors.ts";
import { createTurns } from "../turns.ts";
import { readGroup } from "./commit-reading.ts";
import type { createDraft, Draft } from "./draft.ts";
import type { Filter } from "./filter.ts";
import { removeLinked } from "./links.ts";
import { type Answer, AnswersTaken, Behind, type Entry, type Log } from "./log/log.ts";
import type { Outcome } from "./log/pending.ts";
import type { Lease } from "./log/shared-log.ts";
import { checkQuota, minus, plus, type QuotaOf } from "./quota.ts";
import type { MemoryRow, StoredMemory } from "./rows.ts";
import type { MemoryTable } from "./table.ts";

/** A change that waits for its commit. */
export interface Job {
  /** Memories that `apply` reads. */
  ids: readonly string[];
  /** Whether it needs their vectors too. */
  withVectors?: boolean;
  /** Whether it reads what is linked with them: next to them, or all of their histories. */
  links?: "near" | "chain" | undefined;
  /** Memories of which `apply` asks whether others have the same text. */
  withTextsOf?: readonly StoredMemory[];
  /** What a request with an `Idempotency-Key` is answered from now on. */
  answer?: Answer | undefined;
  /** What it removes, besides what `apply` does. */
  filter: Filter | null;
  apply(draft: Draft): void;
  /** @param removed how many memories the filter let pass */
  done(removed: number): void;
  fail(error: unknown): void;
}

/** What a writer needs to know of other processes that write to its table too. */
export interface Sharing {
  /**
   * Takes in the entries of others, and returns their ids. In the turn of the writer alone.
   * @throws WriterEnded when this is not the table to write to any more
   */
  replay(): Promise<ReadonlySet<string>>;
  /** That of the table that this one is a copy of. */
  lease(): Lease | undefined;
}

/** What a commit goes by. */
export interface Commit {
  table: MemoryTable;
  log: Pick<Log, "append">;
  quotaOf: () => ReturnType<QuotaOf>;
  onCommit: (outcome: Outcome) => void;
  /** `null` where nobody else writes to the table. */
  sharing: Sharing | null;
}

/** How often a group is decided, while others are first each time. */
const MOST_TRIES = 50;
/** Milliseconds for which it is tried to learn whether an entry is there, and between two tries. */
const OUTCOME_PATIENCE = 8_000;
const OUTCOME_AGAIN = 200;

/**
 * Makes the changes of a group in one entry of the log, and answers each. Where another process was first,
 * its entries are taken in, and all is decided again.
 */
export async function commitGroup(group: readonly Job[], commit: Commit): Promise<void> {
  let jobs = group;
  for (let tries = 1; jobs.length > 0; tries++) {
    try {
      return await tryGroup(jobs, commit);
    } catch (error) {
      if (!commit.sharing || tries >= MOST_TRIES) throw error;
      if (error instanceof AnswersTaken) jobs = refuseTaken(jobs, error);
      else if (error instanceof Behind) await commit.sharing.replay();
      else throw error;
    }
  }
}

/** Refuses what another process has done meanwhile for the same key; gives the others. */
function refuseTaken(jobs: readonly Job[], error: AnswersTaken): readonly Job[] {
  const taken = new Set(error.answers.map(({ accountId, keyHash }) => `${accountId} ${keyHash}`));
  return jobs.filter(({ answer, fail }) => {
    const isTaken = answer !== undefined && taken.has(`${answer.accountId} ${answer.keyHash}`);
    if (isTaken) fail(error);
    return !isTaken;
  });
}

async function tryGroup(group: readonly Job[], commit: Commit): Promise<void> {
  const { table } = commit;
  const quota = await commit.quotaOf();
  const { matches, draft } = await readGroup(table, group);
  const refusals: (() => void)[] = [];
  const removed = new Map<Job, number>();
  // What a filter lets pass was read before the group: so it comes before what the group changes.
  const applied = [...group.filter(hasFilter), ...group.filter((job) => !hasFilter(job))].filter(
    (job) => {
      try {
        draft.attempt(() => {
          const before = draft.growth();
          const present = (matches.get(job) ?? []).filter((id) => draft.get(id) !== null);
          removeLinked(draft, present);
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

async function append(
  draft: ReturnType<typeof createDraft>,
  answers: Answer[],
  commit: Commit,
): Promise<void> {
  const { table, log, onCommit, sharing } = commit;
  const outcome = draft.outcome();
  const { written, removed, hasRemains } = outcome;
  if (written.length + removed.length === 0) return;
  const usage = plus(table.usage, draft.growth());
  const turn = createTurns();
  const bytes = written.length > 0 ? table.encode(written) : null;
  await turn();
  const model = table.model.id;
  const expiresAt = firstExpiry(written);
  const entry = { model, written: bytes, removed, hasRemains, usage, expiresAt, answers };
  const seq = sharing
    ? await appendShared(entry, { table, log, sharing })
    : await log.append(table.name, entry);
  if (seq === null) return;
  await table.apply(seq, outcome, usage);
  onCommit(outcome);
}

/** When the first of some memories expires; `null` where none does. */
function firstExpiry(memories: readonly MemoryRow[]): number | null {
  let soonest: number | null = null;
  for (const { expiresAt } of memories) {
    if (expiresAt !== null && expiresAt < (soonest ?? Number.POSITIVE_INFINITY))
      soonest = expiresAt;
  }
  return soonest;
}

/**
 * Appends an entry that must follow the last one which the table has taken in. When the answer of the
 * database is lost, the same entry is appended again: at most one of the two can be there.
 * @returns its number; `null` when it has been taken in as the entries of others are
 */
async function appendShared(
  entry: Entry,
  { table, log, sharing }: Pick<Commit, "table" | "log"> & { sharing: Sharing },
): Promise<number | null> {
  const [id, lease] = [crypto.randomUUID(), sharing.lease()];
  const shared = { id, after: table.seq, ...(lease && { lease }) };
  const append = () => log.append(table.name, { ...entry, shared });
  try {
    return await append();
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error;
    for (const end = performance.now() + OUTCOME_PATIENCE; performance.now() < end; ) {
      await sleep(OUTCOME_AGAIN);
      try {
        return await append();
      } catch (cause) {
        if (cause instanceof DatabaseUnavailable) continue;
        if (!(cause instanceof Behind)) throw cause;
        // When entries since then are in a base alone, nobody can tell whether this one was there.
        const others = await sharing.replay().catch(() => null);
        if (others?.has(id)) return null;
        throw others ? cause : error;
      }
    }
    throw error;
  }
}
