/** Milliseconds since 1970 by the database's clock, which all processes share. */
export const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** The same at the beginning of the statement. It is constant within a statement, so conditions with it can use an index. */
export const STATEMENT_TIME = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/** Milliseconds after which any process may flush a table that its own process has not flushed. */
export interface Overdue {
  /** After a write. */
  flush: number;
  /** After a deletion, which must leave the files within 60 s. */
  forget: number;
}
