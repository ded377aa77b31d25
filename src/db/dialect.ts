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

/** Converts a value to and from the text in its column. */
export interface TextConversion<Value> {
  toDriver: (value: Value) => string;
  fromDriver: (text: string) => Value;
}

/** Column types and functions that declare database tables. One declaration serves every dialect. */
export type Dialect = typeof sqlite;

/** SQLite's dialect. Each column function takes the column's name. */
export const sqlite = {
  name: "sqlite" as "sqlite" | "postgres",
  table: sqliteTable,
  index,
  primaryKey,
  /** A key that the database increments. No number is used twice. */
  counter: (name: string) => integer(name).primaryKey({ autoIncrement: true }),
  text: (name: string) => text(name),
  json: <Value>(name: string) => text(name, { mode: "json" }).$type<Value>(),
  /** A text column with its own conversion. */
  formed: <Value>(name: string, form: TextConversion<Value>) =>
    customType<{ data: Value; driverData: string }>({ dataType: () => "text", ...form })(name),
  /** Up to 2^53, which includes milliseconds since 1970. */
  integer: (name: string) => integer(name),
  real: (name: string) => real(name),
  boolean: (name: string) => integer(name, { mode: "boolean" }),
  blob: (name: string) => blob(name, { mode: "buffer" }),
  /** A `Date`, to the millisecond. */
  timestamp: (name: string) => integer(name, { mode: "timestamp_ms" }),
};
