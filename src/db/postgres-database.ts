import type { Database, Orm } from "./database.ts";
import { createMutex } from "./mutex.ts";
import {
  connectPostgres,
  type Postgres,
  type PostgresOptions,
  type Statements,
} from "./postgres.ts";
import { postgres as dialect } from "./postgres-dialect.ts";
import { DatabaseUnavailable, isSerializationFailure, sqlState } from "./postgres-errors.ts";
import { checkSchema, migratePostgres } from "./postgres-migrations.ts";
import { createPostgresOrm } from "./postgres-orm.ts";
import { createTableDeclarations } from "./table-declarations.ts";

/** A database on PostgreSQL, which other processes use too. */
export interface PostgresDatabase extends Database {
  /** The connection below, for what is PostgreSQL's alone. */
  readonly postgres: Postgres;
}

/** Times that a transaction is made which always meets another one. */
const TRIES = 12;
/**
 * Times that it is made beside all others. After that those which met take turns, of this process and of
 * others: a statement that only locks takes no snapshot, so that the transaction begins with its turn.
 */
const FREE_TRIES = 2;
const TAKE_TURN = "LOCK TABLE ctxd_schema IN EXCLUSIVE MODE";
/** Milliseconds before the second try at the most; before each later one up to half as long again. */
const PAUSE = 4;
/** Milliseconds that what may be lost waits for the locks of others. */
const SHORT_WAIT = 250;

/**
 * Opens the database of a URL, and brings its schema up to date unless another one is to do that.
 * @throws DatabaseUnavailable when it can't be reached, DatabaseError when its schema can't be used
 */
export async function openPostgres(
  url: string,
  { migrates = true, ...options }: PostgresOptions & { migrates?: boolean } = {},
): Promise<PostgresDatabase> {
  const postgres = connectPostgres(url, options);
  try {
    await (migrates ? migratePostgres : checkSchema)(postgres);
    return createPostgresDatabase(postgres);
  } catch (error) {
    await postgres.close();
    throw error;
  }
}

/** The database of a connection whose schema is up to date. */
export function createPostgresDatabase(postgres: Postgres): PostgresDatabase {
  const once = <Result>(task: (tx: Statements) => Promise<Result>, first = "") =>
    postgres.transaction(
      async (tx) => {
        if (first) await tx.rows(first);
        return task(tx);
      },
      { isSerializable: true },
    );

  const meeting = createMutex();
  const inTurn = <Result>(task: (tx: Statements) => Promise<Result>) =>
    meeting.hold(() => once(task, TAKE_TURN));

  const transact = async <Result>(task: (tx: Statements) => Promise<Result>): Promise<Result> => {
    for (let tried = 1; ; tried++) {
      try {
        return await (tried > FREE_TRIES ? inTurn(task) : once(task));
      } catch (error) {
        if (!isSerializationFailure(error)) throw error;
        if (tried === TRIES) throw new DatabaseUnavailable(BUSY, { cause: error });
        await Bun.sleep(Math.random() * PAUSE * 1.5 ** tried);
      }
    }
  };

  // Beside transactions that rely on what they have read, a write must be one too.
  const orm = createPostgresOrm((statement, parameters) =>
    /^select\b/i.test(statement)
      ? postgres.rows(statement, parameters)
      : transact((tx) => tx.rows(statement, parameters)),
  );

  return {
    dialect,
    orm,
    postgres,
    tables: createTableDeclarations(dialect),
    transaction: (task) => transact((tx) => task(ormOf(tx))),

    async attempt(task) {
      try {
        await once((tx) => task(ormOf(tx)), `SET LOCAL lock_timeout = ${SHORT_WAIT}`);
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

    // What becomes of deleted rows in its files is PostgreSQL's: it vacuums by itself.
    async expunge() {},

    close: postgres.close,
  };
}

const BUSY = "The database is busy with other changes to the same. Try again in a moment.";

function ormOf(tx: Statements): Orm {
  return createPostgresOrm((statement, parameters) => tx.rows(statement, parameters));
}
