import {
  bigint,
  bigserial,
  boolean,
  customType,
  doublePrecision,
  index,
  pgTable,
  primaryKey,
  text,
} from "drizzle-orm/pg-core";
import type { Dialect, TextConversion } from "./dialect.ts";

const formed = <Value>(name: string, form: TextConversion<Value>) =>
  customType<{ data: Value; driverData: string }>({ dataType: () => "text", ...form })(name);

const bytes = customType<{ data: Buffer; driverData: Uint8Array }>({
  dataType: () => "bytea",
  fromDriver: ({ buffer, byteOffset, length }) => Buffer.from(buffer, byteOffset, length),
});

/** Milliseconds since 1970, as in SQLite. Drivers return large numbers as texts. */
const timestamp = customType<{ data: Date; driverData: number | string | bigint }>({
  dataType: () => "bigint",
  toDriver: (date) => date.getTime(),
  fromDriver: (milliseconds) => new Date(Number(milliseconds)),
});

/** PostgreSQL's dialect. Its columns have the same values as SQLite's, so it has the type of SQLite's. */
export const postgresDialect = {
  name: "postgres",
  table: pgTable,
  index,
  primaryKey,
  counter: (name: string) => bigserial(name, { mode: "number" }).primaryKey(),
  text: (name: string) => text(name),
  json: <Value>(name: string) =>
    formed<Value>(name, { toDriver: JSON.stringify, fromDriver: JSON.parse }),
  formed,
  integer: (name: string) => bigint(name, { mode: "number" }),
  real: (name: string) => doublePrecision(name),
  boolean: (name: string) => boolean(name),
  blob: (name: string) => bytes(name),
  timestamp: (name: string) => timestamp(name),
} as unknown as Dialect;
