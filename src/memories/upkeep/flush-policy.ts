import type { Base } from "../base/base.ts";
import type { KeptTable } from "../table/table.ts";
import type { Chore, Due } from "./due.ts";
import { type FlushState, hasPendingWork, isSoleWriter } from "./flush-state.ts";

type FlushedTable = Pick<KeptTable, "base" | "pending">;

/** What makes a chore due besides the state of the flushes. Moments are those of `performance.now()`. */
interface Situation {
  now: number;
  /** Whether deleted data must leave the files now. */
  mustForget: boolean;
  /** Whether the table is to be closed, so that its flush must not wait. */
  isInExcess: boolean;
}

/** The chore that is due; `null` when none is. */
export function choreOf(
  table: FlushedTable,
  state: FlushState,
  due: Due,
  { now, mustForget, isInExcess }: Situation,
): Chore | null {
  const { pending } = table;
  const hasWork = hasPendingWork(state, table);
  const leavesOldData = remainsSince(table, state) !== null;
  if (mustForget || (isInExcess && hasWork)) return "flush";
  const quiet = now - pending.lastCommit;
  // A table with remains is flushed soon anyway, by `forgetAfter`.
  if (hasWork && !leavesOldData && quiet >= due.idle) return "flush";
  const isLarge = pending.size >= due.changes || pending.bytes >= due.bytes;
  const isOld = pending.dirtySince !== null && now - pending.dirtySince >= due.age;
  if (isLarge || isOld) return "flush";
  // A flush with remains rewrites the base: it must not wait until the old base has an index.
  const mayIndex = !leavesOldData && quiet >= due.indexAfter;
  return mayIndex && lacksIndex(table.base.current, state, due) ? "index" : null;
}

/** When the oldest deletion was made whose data is still in the files; `null` when there is none. */
export function remainsSince({ pending }: FlushedTable, { forgettingSince }: FlushState) {
  return forgettingSince ?? pending.remainsSince;
}

/** Whether the pending changes may be appended to the base, instead of rewriting it. */
export function mayAppend(
  { base: { current }, pending }: FlushedTable,
  state: FlushState,
  due: Due,
): boolean {
  if (state.mustRewrite || !isSoleWriter(state, current)) return false;
  if (!current?.isUpToDate || pending.remainsSince !== null) return false;
  const { times, rows } = state.appended;
  const maxRows = Math.max(due.largeRows, due.appendedShare * current.rows);
  const isWithinLimits = times < due.appends && rows + pending.size < maxRows;
  return current.rows > due.largeRows && isWithinLimits;
}

/** Whether a large base has no indexes. Indexing records the base, so it must be known to be intact. */
function lacksIndex(base: Base | null, state: FlushState, due: Due): boolean {
  const isIntact = !state.mustRewrite && state.unrecorded === null;
  return isIntact && base !== null && base.rows > due.largeRows && !base.isIndexed;
}
