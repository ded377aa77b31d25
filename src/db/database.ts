import type { SqliteRemoteDatabase } from "drizzle-orm/sqlite-proxy";
import type { Dialect } from "./dialect.ts";

/**
 * Drizzle's query builder, with SQLite's types for every kind of database. Await the query itself:
 * `.get()`, `.all()`, `.run()` and `.values()` work with SQLite only.
 */
export type Orm = Pick<
  SqliteRemoteDatabase,
  "$with" | "delete" | "insert" | "select" | "selectDistinct" | "update" | "with"
>;

/** An open database of any kind. A write is durable when its promise resolves. */
export interface Database {
  readonly dialect: Dialect;
  /**
   * Runs single statements, each in a transaction of its own. The task of a `transaction` must use its
   * argument instead: a statement of `orm` would not be part of the transaction, and with SQLite it would
   * wait for the transaction's end forever.
   */
  readonly orm: Orm;
  /** The table declarations of a part of the program, created once for each database. */
  tables<Tables>(create: (dialect: Dialect) => Tables): Tables;
  /**
   * Runs a task in a serializable transaction: all of its changes are made or none. The task may run
   * again after a conflict with another transaction, so it must change only the database and wait only
   * for the database. An error that it throws undoes its changes.
   */
  transaction<Result>(task: (tx: Orm) => Promise<Result>): Promise<Result>;
  /**
   * Runs a transaction whose loss is acceptable: it does not wait for other processes. Returns whether it
   * was committed. Throws no error of the database, not even when it is closed.
   */
  attempt(task: (tx: Orm) => Promise<unknown>): Promise<boolean>;
  /** Whether the database answers, and its file is still the one that later readers open. */
  isReachable(): Promise<boolean>;
  /** Removes deleted data from the files, as far as that is possible immediately. */
  expunge(): Promise<void>;
  close(): Promise<void>;
}
