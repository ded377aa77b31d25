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
