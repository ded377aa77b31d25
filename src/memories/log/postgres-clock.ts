/** Milliseconds since 1970 by the database's clock, which all processes share. */
export const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** The same of the beginning of a statement, so that an index can be asked by it. */
export const STATEMENT_TIME = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/** Milliseconds after which what waits for a flush is any process's business. */
export interface Overdue {
  /** A write. */
  flush: number;
  /** A deletion: 60 s are promised. */
  forget: number;
}
