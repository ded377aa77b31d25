/** When upkeep of a table is due. Times are milliseconds. */
export const DUE = {
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
  /**
   * A table is large from this many rows on: rewriting it, or reading it into memory, takes more than a
   * few hundred milliseconds.
   */
  largeRows: 10_000,
  /** A large table gets its indexes when no write has come for this long. */
  indexAfter: 10_000,
  /** Appends between two rewrites of a base, and the share of its rows that they may add. */
  appends: 16,
  appendedShare: 0.5,
};
export type Due = typeof DUE;

/**
 * The same for bases in an object store. Fewer flushes, because each object costs money and every
 * process can read the entries from the log.
 */
export const SHARED_DUE: typeof DUE = { ...DUE, idle: 600_000, age: 3_600_000 };

/**
 * A piece of upkeep: bring the log into the base (`flush`), build the base's indexes (`index`), or read
 * the base that another process has recorded (`move`).
 */
export type Chore = "flush" | "index" | "move";
