import {
  bigint,
  bigserial,
  boolean,
  doublePrecision,
  customType as pgCustomType,
  index as pgIndex,
  primaryKey as pgPrimaryKey,
  pgTable,
  text as pgText,
} from "drizzle-orm/pg-core";
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

/** How a value is kept in a column of text. */
export interface TextForm<Value> {
  toDriver: (value: Value) => string;
  fromDriver: (text: string) => Value;
}

/** What tables are declared with. One declaration serves every database that has these words. */
export type Dialect = typeof sqlite;

/** SQLite's words. A column takes its name in the database. */
export const sqlite = {
  name: "sqlite" as "sqlite" | "postgres",
  table: sqliteTable,
  index,
  primaryKey,
  /** A key that the database counts up. A number is never used twice. */
  counter: (name: string) => integer(name).primaryKey({ autoIncrement: true }),
  text: (name: string) => text(name),
  json: <Value>(name: string) => text(name, { mode: "json" }).$type<Value>(),
  /** A value that has a form of its own as a text. */
  formed: <Value>(name: string, form: TextForm<Value>) =>
    customType<{ data: Value; driverData: string }>({ dataType: () => "text", ...form })(name),
  /** Up to 2^53, so also milliseconds since 1970. */
  integer: (name: string) => integer(name),
  real: (name: string) => real(name),
  boolean: (name: string) => integer(name, { mode: "boolean" }),
  blob: (name: string) => blob(name, { mode: "buffer" }),
  /** A `Date`, to the millisecond. */
  timestamp: (name: string) => integer(name, { mode: "timestamp_ms" }),
};

const pgFormed = <Value>(name: string, form: TextForm<Value>) =>
  pgCustomType<{ data: Value; driverData: string }>({ dataType: () => "text", ...form })(name);

const pgBytes = pgCustomType<{ data: Buffer; driverData: Uint8Array }>({
  dataType: () => "bytea",
  fromDriver: ({ buffer, byteOffset, length }) => Buffer.from(buffer, byteOffset, length),
});

/** A number, as in SQLite: drivers give large ones as texts. */
const pgTimestamp = pgCustomType<{ data: Date; driverData: number | string | bigint }>({
  dataType: () => "bigint",
  toDriver: (date) => date.getTime(),
  fromDriver: (milliseconds) => new Date(Number(milliseconds)),
});

/** PostgreSQL's words. They make the same values, so they pass for SQLite's. */
export const postgres = {
  name: "postgres",
  table: pgTable,
  index: pgIndex,
  primaryKey: pgPrimaryKey,
  counter: (name: string) => bigserial(name, { mode: "number" }).primaryKey(),
  text: (name: string) => pgText(name),
  json: <Value>(name: string) =>
    pgFormed<Value>(name, { toDriver: JSON.stringify, fromDriver: JSON.parse }),
  formed: pgFormed,
  integer: (name: string) => bigint(name, { mode: "number" }),
  real: (name: string) => doublePrecision(name),
  boolean: (name: string) => boolean(name),
  blob: (name: string) => pgBytes(name),
  timestamp: (name: string) => pgTimestamp(name),
} as unknown as Dialect;
