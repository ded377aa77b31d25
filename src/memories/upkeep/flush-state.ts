import { type Base, LARGE_ROWS } from "../base/base.ts";
import type { Lease } from "../log/records.ts";
import type { KeptTable } from "../table/table.ts";

/** When upkeep of a table is due. Times are milliseconds. */
export const UPKEEP_LIMITS = {
  /** The log is flushed when no write has come for this long, */
  idle: 5_000,
  /** this long after the first change, */
  age: 60_000,
  /** or when this many changes or bytes are pending. */
  changes: 1_000,
  bytes: 4 << 20,
  /** After a flush the table rests for this many times the flush's duration. */
  restFactor: 4,
  /** Deleted data leaves the files this long after the answer. The promise to users is 60 s. */
  forgetAfter: 15_000,
  /** The same, including the flushes of other tables that run before. */
  forgottenWithin: 40_000,
  /** A failed flush is tried again after this long. */
  retryAfter: 5_000,
  largeRows: LARGE_ROWS,
  /** A large table gets its indexes when no write has come for this long. */
  indexAfter: 10_000,
  /** Appends between two rewrites of a base, and the share of its rows that they may add. */
  appends: 16,
  appendedShare: 0.5,
};
export type UpkeepLimits = typeof UPKEEP_LIMITS;

/**
 * The same for bases in an object store. Fewer flushes, because each object costs money and every
 * process can read the entries from the log.
 */
export const SHARED_UPKEEP_LIMITS: UpkeepLimits = {
  ...UPKEEP_LIMITS,
  idle: 600_000,
  age: 3_600_000,
};

/**
 * A piece of upkeep: bring the log into the base (`flush`), build the base's indexes (`index`), read the base that
 * another process has recorded (`move`), or compare some memories with those near them (`compare`).
 */
export type Chore = "flush" | "index" | "move" | "compare";

type FlushedTable = Pick<KeptTable, "base" | "pending">;

/** Milliseconds of a rewrite for each row of its base: a million rows took 55 s beside searches on two cores. */
const REWRITE_MS_PER_ROW = 0.055;

/** Pending bytes that end the rest after a flush, in multiples of the bytes that make a flush due. */
const BYTES_WITHOUT_REST = 8;

/**
 * The chore that is due; `null` when none is.
 * @param ahead milliseconds that flushes of other tables will take
 * @param isInExcess whether the table is to be closed, so that its flush must not wait
 */
export function dueChore(
  table: FlushedTable,
  state: FlushState,
  due: UpkeepLimits,
  { ahead, isInExcess }: { ahead: number; isInExcess: boolean },
): Chore | null {
  if (state.mustReopen) return null;
  const { pending } = table;
  const now = performance.now();
  const since = remainsSince(table, state);
  const latest = Math.max(0, due.forgottenWithin - ahead - rewriteTime(table));
  const forgetAfter = Math.min(due.forgetAfter, latest);
  const mustForget = since !== null && now - since >= forgetAfter;
  // The rest after a long flush may be longer than forgetting may take.
  if (isResting(table, state, due)) return mustForget && !state.rest.hasFailed ? "flush" : null;
  if (state.isBehind) return "move";
  const hasWork = hasPendingWork(state, table);
  if (state.isRequested || mustForget || (isInExcess && hasWork)) return "flush";
  const quiet = now - pending.lastCommit;
  // A table with remains is flushed soon anyway, by `forgetAfter`.
  if (hasWork && since === null && quiet >= due.idle) return "flush";
  const isLarge = pending.size >= due.changes || pending.bytes >= due.bytes;
  const isOld = pending.dirtySince !== null && now - pending.dirtySince >= due.age;
  if (isLarge || isOld) return "flush";
  // A flush with remains rewrites the base: it must not wait until the old base has an index.
  const mayIndex = since === null && quiet >= due.indexAfter;
  return mayIndex && lacksIndex(table.base.current, state, due) ? "index" : null;
}

/** Milliseconds that a rewrite of the base will take at most. */
export function rewriteTime({ base: { current } }: FlushedTable): number {
  return REWRITE_MS_PER_ROW * (current?.rows ?? 0);
}

function isResting({ pending }: FlushedTable, { rest }: FlushState, due: UpkeepLimits): boolean {
  const isFull = pending.bytes >= BYTES_WITHOUT_REST * due.bytes;
  return performance.now() < rest.until && (rest.hasFailed || !isFull);
}

/** When the oldest deletion was made whose data is still in the files; `null` when there is none. */
export function remainsSince({ pending }: FlushedTable, { forgettingSince }: FlushState) {
  return forgettingSince ?? pending.remainsSince;
}

/** Whether the pending changes may be appended to the base, instead of rewriting it. */
export function mayAppend(
  { base: { current }, pending }: FlushedTable,
  state: FlushState,
  due: UpkeepLimits,
): boolean {
  if (state.mustRewrite || !isSoleWriter(state, current)) return false;
  if (!current?.isUpToDate || pending.remainsSince !== null) return false;
  const { times, rows } = state.appended;
  const maxRows = Math.max(due.largeRows, due.appendedShare * current.rows);
  const isWithinLimits = times < due.appends && rows + pending.size < maxRows;
  return current.rows > due.largeRows && isWithinLimits;
}

/** Whether a large base has no indexes. Indexing records the base, so it must be known to be intact. */
function lacksIndex(base: Base | null, state: FlushState, due: UpkeepLimits): boolean {
  const isIntact = !state.mustRewrite && state.unrecorded === null;
  return isIntact && base !== null && base.rows > due.largeRows && !base.isIndexed;
}

/**
 * What earlier flushes of an open table have begun and not finished, and what the next one must know of
 * them. Moments are those of `performance.now()`.
 */
export interface FlushState {
  /** Bases that a newer one has replaced, and whose files may still exist. */
  readonly replaced: Set<string>;
  /**
   * A base whose checkpoint may or may not be recorded. It must be recorded before any other work.
   * `began` is when its flush began; null when it was written by none.
   */
  unrecorded: { base: Base; began: number | null } | null;
  /** The oldest deletion that a flush has taken out of the log, while the data may still be in files. */
  forgettingSince: number | null;
  /** Appends to the base since its last rewrite. */
  appended: { times: number; rows: number };
  /** Whether a failure may have left files in the base's folder that no checkpoint lists. */
  mustRewrite: boolean;
  /** The lease of the running chore, where several processes write to the table. */
  lease: Lease | null;
  /** The base that this process wrote last, and the epoch of its lease then. */
  written: { base: string; epoch: number } | null;
  /** Whether another process has recorded a base that this one does not read yet. */
  isBehind: boolean;
  /** Whether a flush was asked for. */
  isRequested: boolean;
  /** Whether the table differs from what other processes have recorded, and must be opened again. */
  mustReopen: boolean;
  /** Until when no chore is due after the last one. */
  rest: { until: number; hasFailed: boolean };
}

export function createFlushState(): FlushState {
  return {
    replaced: new Set(),
    unrecorded: null,
    forgettingSince: null,
    appended: { times: 0, rows: 0 },
    mustRewrite: false,
    lease: null,
    written: null,
    isBehind: false,
    isRequested: false,
    mustReopen: false,
    rest: { until: 0, hasFailed: false },
  };
}

/** Whether no other process has written to the base since this one did. */
export function isSoleWriter({ lease, written }: FlushState, base: Base | null): boolean {
  if (lease === null) return true;
  return written?.base === base?.checkpoint.base && written?.epoch === lease.epoch;
}

/** Whether the base lacks changes, or must be replaced. */
export function needsWrite({ mustRewrite }: FlushState, { pending, base }: FlushedTable): boolean {
  return pending.size > 0 || mustRewrite || base.current?.isUpToDate === false;
}

/** Whether a flush would write, record or remove anything. */
export function hasPendingWork(state: FlushState, table: FlushedTable): boolean {
  const isUnfinished = state.unrecorded !== null || state.replaced.size > 0;
  return needsWrite(state, table) || isUnfinished || state.forgettingSince !== null;
}
