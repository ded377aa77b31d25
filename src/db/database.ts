import type { SqliteRemoteDatabase } from "drizzle-orm/sqlite-proxy";
import type { Dialect } from "./dialect.ts";

/**
 * The way to the tables. Its types are SQLite's for every kind of database, and a query is awaited:
 * `.get()`, `.all()`, `.run()` and `.values()` are SQLite's alone.
 */
export type Orm = Pick<
  SqliteRemoteDatabase,
  "$with" | "delete" | "insert" | "select" | "selectDistinct" | "update" | "with"
>;

/** An open database of any kind. What was written is durable when the promise resolves. */
export interface Database {
  readonly dialect: Dialect;
  /**
   * For single statements, each of which is a transaction. The task of a transaction uses its argument
   * instead: what it does by this is no part of it, and on SQLite waits for its end, in vain.
   */
  readonly orm: Orm;
  /** The tables of a part of the program, made once. */
  tables<Tables>(create: (dialect: Dialect) => Tables): Tables;
  /**
   * Makes all of a task's changes or none, as if nobody did anything meanwhile. Where two of them
   * meet, the task may run again, so it must change nothing but the database, and it waits for nothing
   * else. What it throws undoes its changes.
   */
  transaction<Result>(task: (tx: Orm) => Promise<Result>): Promise<Result>;
  /**
   * Makes a transaction that may be lost: it does not wait for other processes. Returns whether it was
   * made, and never throws for the database's sake, also when that is closed.
   */
  attempt(task: (tx: Orm) => Promise<unknown>): Promise<boolean>;
  /** Whether it answers, and what is written to it will be found again. */
  isReachable(): Promise<boolean>;
  /** Removes from the files what was deleted, as far as that can be done at once. */
  expunge(): Promise<void>;
  close(): Promise<void>;
}
