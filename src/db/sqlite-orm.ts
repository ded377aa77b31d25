import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";
import {
  type AsyncRemoteCallback,
  SQLiteRemoteSession,
  SqliteRemoteDatabase,
} from "drizzle-orm/sqlite-proxy";
import type { Orm } from "./database.ts";

/** Executes a statement of Drizzle's, at once if it can. Returns rows as lists of values. */
export type Execute = (
  sql: string,
  parameters: unknown[],
  method: string,
) => { rows: unknown[] } | Promise<{ rows: unknown[] }>;

/** Drizzle's way to SQLite's tables by a function that executes statements. */
export function createSqliteOrm(execute: Execute): Orm {
  const dialect = new SQLiteAsyncDialect();
  // It is awaited in any case, and each promise takes its time.
  const session = new SQLiteRemoteSession(execute as AsyncRemoteCallback, dialect, undefined);
  const prepare = session.prepareQuery.bind(session);
  session.prepareQuery = (...query) => Object.assign(prepare(...query), AS_IT_IS);
  return new SqliteRemoteDatabase("async", dialect, session, undefined);
}

/**
 * Part of a query of Drizzle's. Its own would hide an error in one whose message has the statement's
 * parameters: they may be secrets, and messages are logged.
 */
export const AS_IT_IS = {
  queryWithCache: <Result>(_sql: string, _parameters: unknown[], query: () => Result) => query(),
};
