import type { Pending } from "./log/pending.ts";

/** When work on a table is due. Times are milliseconds. */
export const DUE = {
  /** The log is flushed when no write has come for so long, */
  idle: 5_000,
  /** or so long after the first change, */
  age: 60_000,
  /** or when it has so many changes or bytes, */
  changes: 1_000,
  bytes: 4 << 20,
  /** then with a rest of so many times as long as the last flush took. */
  restFactor: 4,
  /** What was deleted leaves the files this long after the answer; 60 s are promised. */
  forgetAfter: 15_000,
  /** The same with the time that the flushes of other tables take, done one by one. */
  forgottenWithin: 40_000,
  /** A flush that failed is tried again after this long. */
  retryAfter: 5_000,
  /**
   * Rows from which a table is large: writing it as a whole, or reading it into memory, takes longer
   * than some hundred milliseconds.
   */
  largeRows: 10_000,
  /** A large table gets its indexes when it has been at rest for so long. */
  indexAfter: 10_000,
  /** Flushes that add to a table before it is written as one again, and the share that they may add. */
  appends: 16,
  appendedShare: 0.5,
};
export type Due = typeof DUE;

/** The same where bases are objects: each costs money, and any process can read what the log has. */
export const SHARED_DUE: typeof DUE = { ...DUE, idle: 600_000, age: 3_600_000 };

/**
 * What can be done to a table: write what the log has into its base, index it, or read the base that
 * another process has recorded.
 */
export type Chore = "flush" | "index" | "move";

/** What makes a chore due, besides what is pending. */
interface Situation {
  /** Whether anything is to be flushed or removed. */
  isLeft: boolean;
  /** Whether something deleted is in the files, and whether it must leave them now. */
  hasRemains: boolean;
  mustForget: boolean;
  lacksIndex: boolean;
  isInExcess: boolean;
  now: number;
}

/** The chore that is due; `null` when none is. */
export function choreOf(
  pending: Pick<Pending, "size" | "bytes" | "dirtySince" | "lastCommit">,
  { isLeft, hasRemains, mustForget, lacksIndex, isInExcess, now }: Situation,
  due: Due,
): Chore | null {
  if (mustForget || (isInExcess && isLeft)) return "flush";
  const quiet = now - pending.lastCommit;
  // What has to leave the files is flushed soon anyway.
  if (isLeft && !hasRemains && quiet >= due.idle) return "flush";
  const isMuch = pending.size >= due.changes || pending.bytes >= due.bytes;
  const isOld = pending.dirtySince !== null && now - pending.dirtySince >= due.age;
  if (isMuch || isOld) return "flush";
  // A flush that removes something writes the base again, and must not wait for an index of this one.
  return lacksIndex && !hasRemains && quiet >= due.indexAfter ? "index" : null;
}
