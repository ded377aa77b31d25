import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseUnavailable, OutcomeUnknown } from "../../db/database-error.ts";
import { createPause } from "../../timing/pause.ts";
import { AnswersTaken, type Log, StaleAppendError } from "../log/log.ts";
import type { Outcome } from "../log/pending.ts";
import type { Entry, IdempotencyRecord, Lease } from "../log/records.ts";
import { LeaseLost } from "../log/shared-log.ts";
import { checkQuota, minus, plus, type QuotaOf } from "../model/quota.ts";
import { readForCommit } from "./commit-reading.ts";
import type { createDraft, QueuedChange } from "./draft.ts";
import { removeLinked } from "./links.ts";
import type { MemoryTable } from "./table.ts";

/**
 * Reads the entries of other processes into a table, and returns their ids. Only in the turn of the table's writer.
 * @throws WriterEnded when this table must not be written any more
 */
type Replay = () => Promise<ReadonlySet<string>>;

/** Milliseconds for which a lost outcome is asked for, and between two tries. */
const OUTCOME_TIMEOUT_MS = 8_000;
const OUTCOME_RETRY_MS = 200;

/**
 * Appends an entry that must follow the table's newest one. If the database's answer is lost, the same entry
 * is appended again: at most one of the two can succeed.
 * @param lease of the copy that the entry is part of
 * @returns its number; `null` when it was read back with the entries of other processes
 */
async function appendShared(
  entry: Entry,
  { table, log }: Commit,
  { replay, lease }: { replay: Replay; lease: Lease | undefined },
): Promise<number | null> {
  const id = crypto.randomUUID();
  const shared = { id, after: table.seq, ...(lease && { lease }) };
  const append = () => log.append(table.name, { ...entry, shared });
  try {
    return await append();
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error;
    return await appendAgain(append, { id, replay, lost: error });
  }
}

async function appendAgain(
  append: () => Promise<number>,
  { id, replay, lost }: { id: string; replay: Replay; lost: OutcomeUnknown },
): Promise<number | null> {
  for (const end = performance.now() + OUTCOME_TIMEOUT_MS; performance.now() < end; ) {
    await sleep(OUTCOME_RETRY_MS);
    try {
      return await append();
    } catch (error) {
      if (error instanceof DatabaseUnavailable) continue;
      if (!(error instanceof StaleAppendError)) throw error;
      // Replay fails when a base has replaced entries: then the outcome stays unknown.
      const others = await replay().catch(() => null);
      if (others?.has(id)) return null;
      throw others ? error : lost;
    }
  }
  throw lost;
}

/** What a commit works on. */
export interface Commit {
  table: MemoryTable;
  log: Pick<Log, "append">;
  quotaOf: () => ReturnType<QuotaOf>;
  onCommit: (outcome: Outcome) => void;
  /** Where other processes write to the table too. */
  replay?: Replay | undefined;
}

/** How often a commit is tried when another process commits first each time. */
const MAX_COMMIT_TRIES = 50;

/**
 * Makes the changes of a group in one entry of the log, and answers each. All have the same lease, or none. If
 * another process has committed first, its entries are read and all changes are decided again.
 */
export async function commitGroup(group: readonly QueuedChange[], commit: Commit): Promise<void> {
  let changes = group;
  for (let tries = 1; changes.length > 0; tries++) {
    try {
      return await tryCommit(changes, commit);
    } catch (error) {
      if (!commit.replay || tries >= MAX_COMMIT_TRIES) throw error;
      if (error instanceof AnswersTaken) changes = failTaken(changes, error);
      else if (error instanceof StaleAppendError) await readOthers(changes, commit);
      else throw error;
    }
  }
}

/** @throws LeaseLost when no other entry is the reason why an entry of a copy was refused */
async function readOthers(
  changes: readonly QueuedChange[],
  { table, replay }: Commit,
): Promise<void> {
  const before = table.seq;
  await replay?.();
  if (changes[0]?.lease && table.seq === before) {
    throw new LeaseLost(`another process may copy to ${table.name}`);
  }
}

/** Fails the changes whose idempotency key another process has answered, and returns the others. */
function failTaken(changes: readonly QueuedChange[], error: AnswersTaken): readonly QueuedChange[] {
  const taken = new Set(error.answers.map(({ accountId, keyHash }) => `${accountId} ${keyHash}`));
  return changes.filter(({ answer, fail }) => {
    const isTaken = answer !== undefined && taken.has(`${answer.accountId} ${answer.keyHash}`);
    if (isTaken) fail(error);
    return !isTaken;
  });
}

async function tryCommit(changes: readonly QueuedChange[], commit: Commit): Promise<void> {
  const { table } = commit;
  const lease = changes[0]?.lease;
  // A copy takes all memories of its table, whatever the quota.
  const quota = lease ? null : await commit.quotaOf();
  const { matches, draft } = await readForCommit(table, changes);
  const failures: (() => void)[] = [];
  const removed = new Map<QueuedChange, number>();
  const apply = (change: QueuedChange): void => {
    const before = draft.growth();
    const present = (matches.get(change)?.ids ?? []).filter((id) => draft.get(id) !== null);
    removeLinked(draft, present, change.mayRelink);
    removed.set(change, present.length);
    change.apply(draft);
    if (quota) checkQuota(quota, plus(table.usage, before), minus(draft.growth(), before));
  };
  // Filters were matched before the group, so they apply to what was there before it.
  const rank = ({ filter }: QueuedChange) => (filter === null ? 1 : 0);
  const filtersFirst = changes.toSorted((a, b) => rank(a) - rank(b));
  const applied = filtersFirst.filter((change) => {
    try {
      draft.attempt(() => apply(change));
      return true;
    } catch (error) {
      // Reported after the append: it may be due to another change of this group, which may still fail.
      failures.push(() => change.fail(error));
      return false;
    }
  });
  const answers = applied.flatMap(({ answer }) => answer ?? []);
  await append(draft, { answers, lease }, commit);
  for (const fail of failures) fail();
  for (const change of applied) {
    change.done(removed.get(change) ?? 0, matches.get(change)?.left ?? 0);
  }
}

async function append(
  draft: ReturnType<typeof createDraft>,
  { answers, lease }: { answers: IdempotencyRecord[]; lease: Lease | undefined },
  commit: Commit,
): Promise<void> {
  const { table, log, onCommit, replay } = commit;
  const outcome = draft.outcome();
  const { written, removed, leavesOldData } = outcome;
  if (written.length + removed.length === 0) return;
  const usage = plus(table.usage, draft.growth());
  const pause = createPause();
  const bytes = written.length > 0 ? table.encode(written) : null;
  await pause();
  const model = table.model.id;
  const first = written.reduce(
    (time, memory) => Math.min(time, memory.expiresAt ?? time),
    Infinity,
  );
  const expiresAt = Number.isFinite(first) ? first : null;
  const entry = { model, written: bytes, removed, leavesOldData, usage, expiresAt, answers };
  const seq = replay
    ? await appendShared(entry, commit, { replay, lease })
    : await log.append(table.name, entry);
  if (seq === null) return;
  await table.apply(seq, outcome, usage);
  onCommit(outcome);
}
