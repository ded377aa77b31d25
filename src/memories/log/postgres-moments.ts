/** Milliseconds since 1970 by the database's clock, which all processes share. */
export const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** Milliseconds after which what waits for a flush is any process's business. */
export interface Overdue {
  /** A write. */
  flush: number;
  /** A deletion: 60 s are promised. */
  forget: number;
}
