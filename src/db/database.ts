import {
  blob,
  customType,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
} from "drizzle-orm/sqlite-core";
import type { SqliteRemoteDatabase } from "drizzle-orm/sqlite-proxy";

/** Converts a value to and from the text in its column. */
export interface TextConversion<Value> {
  toDriver: (value: Value) => string;
  fromDriver: (text: string) => Value;
}

/** Column types and functions that declare database tables. One declaration serves every dialect. */
export type Dialect = typeof sqliteDialect;

/** SQLite's dialect. Each column function takes the column's name. */
export const sqliteDialect = {
  name: "sqlite" as "sqlite" | "postgres",
  table: sqliteTable,
  index,
  primaryKey,
  /** A key that the database increments. No number is used twice. */
  counter: (name: string) => integer(name).primaryKey({ autoIncrement: true }),
  text: (name: string) => text(name),
  json: <Value>(name: string) => text(name, { mode: "json" }).$type<Value>(),
  /** A text column with its own conversion. */
  converted: <Value>(name: string, conversion: TextConversion<Value>) =>
    customType<{ data: Value; driverData: string }>({ dataType: () => "text", ...conversion })(
      name,
    ),
  /** Up to 2^53, which includes milliseconds since 1970. */
  integer: (name: string) => integer(name),
  real: (name: string) => real(name),
  boolean: (name: string) => integer(name, { mode: "boolean" }),
  blob: (name: string) => blob(name, { mode: "buffer" }),
  /** A `Date`, to the millisecond. */
  timestamp: (name: string) => integer(name, { mode: "timestamp_ms" }),
};

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

/** What a store works with. */
export interface StoreParts {
  db: Database;
  /** Gives milliseconds since 1970. */
  clock: () => number;
}

/** The row of a statement that always returns one. */
export function returnedRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error("The database returned no row.");
  return row;
}

/** Milliseconds before a newer `last_used_at` is written. */
const PRECISION_MS = 60_000;

/**
 * Returns a function that updates a `last_used_at`, precise to the minute. It must not delay a request or
 * make it fail. It writes only when that is possible immediately. After a failure (another process writes,
 * the disk is full) it pauses for a minute.
 * @param write sets `last_used_at` of `id` to `now`, in milliseconds since 1970
 */
export function createLastUsedWriter(
  db: Database,
  write: (tx: Orm, id: string, now: number) => Promise<unknown>,
) {
  let pausedUntil = 0;

  return async (id: string, lastUsedAt: Date | null, now: number): Promise<void> => {
    // `abs`: the clock may have been set back.
    if (lastUsedAt !== null && Math.abs(now - lastUsedAt.getTime()) < PRECISION_MS) return;
    if (now < pausedUntil && pausedUntil - now <= PRECISION_MS) return;
    if (!(await db.attempt((tx) => write(tx, id, now)))) pausedUntil = now + PRECISION_MS;
  };
}
