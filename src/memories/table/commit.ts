import { createPause } from "../../timing/pause.ts";
import { AnswersTaken, type Log, StaleAppendError } from "../log/log.ts";
import type { Outcome } from "../log/pending.ts";
import type { Answer, Lease } from "../log/records.ts";
import { LeaseLost } from "../log/shared-log.ts";
import { checkQuota, minus, plus, type QuotaOf } from "../model/quota.ts";
import type { MemoryRow } from "../model/rows.ts";
import { appendShared, type Sharing } from "./append.ts";
import type { QueuedChange } from "./change.ts";
import { readForCommit } from "./commit-reading.ts";
import type { createDraft } from "./draft.ts";
import { removeLinked } from "./links.ts";
import type { MemoryTable } from "./table.ts";

/** What a commit works on. */
export interface Commit {
  table: MemoryTable;
  log: Pick<Log, "append">;
  quotaOf: () => ReturnType<QuotaOf>;
  onCommit: (outcome: Outcome) => void;
  /** `null` where no other process writes to the table. */
  sharing: Sharing | null;
}

/** How often a commit is tried when another process commits first each time. */
const MAX_TRIES = 50;

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
      if (!commit.sharing || tries >= MAX_TRIES) throw error;
      if (error instanceof AnswersTaken) changes = failTaken(changes, error);
      else if (error instanceof StaleAppendError) await readOthers(changes, commit);
      else throw error;
    }
  }
}

/** @throws LeaseLost when no other entry is the reason why an entry of a copy was refused */
async function readOthers(
  changes: readonly QueuedChange[],
  { table, sharing }: Commit,
): Promise<void> {
  const before = table.seq;
  await sharing?.replay();
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
  const applied = filtersFirst(changes).filter((change) => {
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

/** Filters were matched before the group, so they apply to what was there before it. */
function filtersFirst(changes: readonly QueuedChange[]): QueuedChange[] {
  const hasFilter = ({ filter }: QueuedChange) => filter !== null;
  return [...changes.filter(hasFilter), ...changes.filter((change) => !hasFilter(change))];
}

async function append(
  draft: ReturnType<typeof createDraft>,
  { answers, lease }: { answers: Answer[]; lease: Lease | undefined },
  { table, log, onCommit, sharing }: Commit,
): Promise<void> {
  const outcome = draft.outcome();
  const { written, removed, leavesOldData } = outcome;
  if (written.length + removed.length === 0) return;
  const usage = plus(table.usage, draft.growth());
  const pause = createPause();
  const bytes = written.length > 0 ? table.encode(written) : null;
  await pause();
  const model = table.model.id;
  const expiresAt = firstExpiry(written);
  const entry = { model, written: bytes, removed, leavesOldData, usage, expiresAt, answers };
  const seq = sharing
    ? await appendShared(entry, { table, log, sharing, lease })
    : await log.append(table.name, entry);
  if (seq === null) return;
  await table.apply(seq, outcome, usage);
  onCommit(outcome);
}

/** When the first of some memories expires; `null` when none does. */
function firstExpiry(memories: readonly MemoryRow[]): number | null {
  let first: number | null = null;
  for (const { expiresAt } of memories) {
    if (expiresAt !== null && expiresAt < (first ?? Number.POSITIVE_INFINITY)) first = expiresAt;
  }
  return first;
}
