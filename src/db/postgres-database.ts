import {
  bigint,
  bigserial,
  boolean,
  customType,
  doublePrecision,
  index,
  PgDialect,
  pgTable,
  primaryKey,
  text,
} from "drizzle-orm/pg-core";
import { PgRemoteDatabase, PgRemoteSession } from "drizzle-orm/pg-proxy";
import { AppError } from "../errors.ts";
import { type Metrics, measureCalls } from "../metrics.ts";
import type { Database, Dialect, Orm, TextConversion } from "./database.ts";
import {
  DatabaseUnavailable,
  isSerializationFailure,
  OutcomeUnknown,
  sqlState,
} from "./database-error.ts";
import { createMutex } from "./mutex.ts";
import type { Postgres, Statements } from "./postgres.ts";
import { createTableDeclarations, UNWRAPPED_ERRORS } from "./sqlite-orm.ts";

const converted = <Value>(name: string, conversion: TextConversion<Value>) =>
  customType<{ data: Value; driverData: string }>({ dataType: () => "text", ...conversion })(name);

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
    converted<Value>(name, { toDriver: JSON.stringify, fromDriver: JSON.parse }),
  converted,
  integer: (name: string) => bigint(name, { mode: "number" }),
  real: (name: string) => doublePrecision(name),
  boolean: (name: string) => boolean(name),
  blob: (name: string) => bytes(name),
  timestamp: (name: string) => timestamp(name),
} as unknown as Dialect;

/**
 * Drizzle's query builder for PostgreSQL. `rows` executes the statements. Its queries return the same
 * values as SQLite's, so it has the type of SQLite's.
 */
function createPostgresOrm(
  rows: (statement: string, parameters: unknown[]) => Promise<unknown[][]>,
): Orm {
  const dialect = new PgDialect();
  const session = new PgRemoteSession(
    async (statement, parameters) => {
      refuseNul(parameters);
      return { rows: await rows(statement, parameters) };
    },
    dialect,
    undefined,
  );
  const prepare = session.prepareQuery.bind(session);
  session.prepareQuery = (...query) => Object.assign(prepare(...query), UNWRAPPED_ERRORS);
  return new PgRemoteDatabase(dialect, session, undefined) as unknown as Orm;
}

/** PostgreSQL stores no U+0000 in texts. @throws AppError when a parameter contains one */
function refuseNul(parameters: readonly unknown[]): void {
  if (!parameters.some((value) => typeof value === "string" && value.includes("\0"))) return;
  throw new AppError("validation_failed", "A text contains the character U+0000: remove it.");
}

/** Records the calls to PostgreSQL, their duration and their result as metrics. */
export function measurePostgres(postgres: Postgres, metrics: Metrics): Postgres {
  const measure = measureCalls(metrics, {
    name: "ctxd_database_request_duration_seconds",
    help: "Duration of statements and transactions, including the wait for a connection.",
    resultOf,
  });
  return {
    rows: (...args) => measure("statement", () => postgres.rows(...args)),
    query: <Row>(...args: Parameters<Postgres["query"]>) =>
      measure("statement", () => postgres.query<Row>(...args)),
    transaction: (...args) => measure("transaction", () => postgres.transaction(...args)),
    script: postgres.script,
    close: postgres.close,
  };
}

function resultOf(error: unknown): string {
  if (error instanceof OutcomeUnknown) return "unknown";
  if (error instanceof DatabaseUnavailable) return "unreachable";
  return isSerializationFailure(error) ? "conflict" : "failed";
}

/** A PostgreSQL database, which other processes use too. */
export interface PostgresDatabase extends Database {
  /** The connection, for statements that only PostgreSQL has. */
  readonly postgres: Postgres;
}

/** Attempts of a transaction that conflicts with others each time. */
const MAX_ATTEMPTS = 12;
/**
 * Attempts that run concurrently with all other transactions. Later attempts take turns, in this process
 * and with others, by a lock. A `LOCK` statement takes no snapshot, so the transaction's snapshot is taken
 * when its turn comes.
 */
const CONCURRENT_ATTEMPTS = 2;
const TAKE_TURN = "LOCK TABLE ctxd_schema IN EXCLUSIVE MODE";
/** Base of the random pause before an attempt, in milliseconds. The upper bound grows by half each time. */
const PAUSE_MS = 4;
/** Milliseconds that `attempt` waits for locks of other transactions. */
const LOCK_TIMEOUT_MS = 250;

/** The database of a connection. Its schema must be up to date. */
export function createPostgresDatabase(postgres: Postgres): PostgresDatabase {
  const once = <Result>(task: (tx: Statements) => Promise<Result>, first = "") =>
    postgres.transaction(
      async (tx) => {
        if (first) await tx.rows(first);
        return task(tx);
      },
      { isSerializable: true },
    );

  const turns = createMutex();
  const inParallel = <Result>(task: (tx: Statements) => Promise<Result>) =>
    turns.hold(() => once(task, TAKE_TURN));

  const transact = async <Result>(task: (tx: Statements) => Promise<Result>): Promise<Result> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await (attempt > CONCURRENT_ATTEMPTS ? inParallel(task) : once(task));
      } catch (error) {
        if (!isSerializationFailure(error)) throw error;
        if (attempt === MAX_ATTEMPTS) throw new DatabaseUnavailable(BUSY, { cause: error });
        await Bun.sleep(Math.random() * PAUSE_MS * 1.5 ** attempt);
      }
    }
  };

  // Serializable transactions are isolated only from writes that are serializable transactions too.
  const orm = createPostgresOrm((statement, parameters) =>
    /^select\b/i.test(statement)
      ? postgres.rows(statement, parameters)
      : transact((tx) => tx.rows(statement, parameters)),
  );

  return {
    dialect: postgresDialect,
    orm,
    postgres,
    tables: createTableDeclarations(postgresDialect),
    transaction: (task) => transact((tx) => task(ormOf(tx))),

    async attempt(task) {
      try {
        await once((tx) => task(ormOf(tx)), `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
        return true;
      } catch (error) {
        if (error instanceof DatabaseUnavailable || sqlState(error) !== null) return false;
        throw error;
      }
    },

    async isReachable() {
      try {
        await postgres.rows("SELECT id FROM accounts LIMIT 1");
        return true;
      } catch (error) {
        if (error instanceof DatabaseUnavailable) return false;
        throw error;
      }
    },

    // PostgreSQL vacuums deleted rows from its files by itself.
    async expunge() {},

    close: postgres.close,
  };
}

const BUSY = "The database is busy with other changes to the same data. Try again in a moment.";

function ormOf(tx: Statements): Orm {
  return createPostgresOrm((statement, parameters) => tx.rows(statement, parameters));
}
