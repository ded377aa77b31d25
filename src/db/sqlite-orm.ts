import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";
import {
  type AsyncRemoteCallback,
  SQLiteRemoteSession,
  SqliteRemoteDatabase,
} from "drizzle-orm/sqlite-proxy";
import type { Dialect, Orm } from "./database.ts";

/** Creates the table declarations of each part of the program, once for a database. */
export function createTableDeclarations(dialect: Dialect) {
  const created = new Map<unknown, unknown>();
  return <Tables>(create: (dialect: Dialect) => Tables): Tables => {
    if (!created.has(create)) created.set(create, create(dialect));
    return created.get(create) as Tables;
  };
}

/** Executes a statement of Drizzle, if possible synchronously. Returns rows as lists of values. */
type Execute = (
  sql: string,
  parameters: unknown[],
  method: string,
) => { rows: unknown[] } | Promise<{ rows: unknown[] }>;

/** Drizzle's query builder for SQLite. `execute` runs the statements. */
export function createSqliteOrm(execute: Execute): Orm {
  const dialect = new SQLiteAsyncDialect();
  // A synchronous result saves the time of a promise; Drizzle awaits either.
  const session = new SQLiteRemoteSession(execute as AsyncRemoteCallback, dialect, undefined);
  const prepare = session.prepareQuery.bind(session);
  session.prepareQuery = (...query) => Object.assign(prepare(...query), UNWRAPPED_ERRORS);
  return new SqliteRemoteDatabase("async", dialect, session, undefined);
}

/**
 * Replaces a method of Drizzle's queries. The original wraps errors in one whose message contains the
 * statement's parameters. They may be secrets, and messages are logged.
 */
export const UNWRAPPED_ERRORS = {
  queryWithCache: <Result>(_sql: string, _parameters: unknown[], query: () => Result) => query(),
};
