import type { Database, Orm } from "./database.ts";
import { createMutex } from "./mutex.ts";
import { connectPostgres, type Postgres, type Statements } from "./postgres.ts";
import { postgresDialect } from "./postgres-dialect.ts";
import { DatabaseUnavailable, isSerializationFailure, sqlState } from "./postgres-errors.ts";
import { checkSchema, migratePostgres } from "./postgres-migrations.ts";
import { createPostgresOrm } from "./postgres-orm.ts";
import type { PostgresOptions } from "./postgres-pool.ts";
import { createTableDeclarations } from "./table-declarations.ts";

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

/**
 * Opens the database of a URL and migrates its schema.
 * @param migrates false to only check the schema
 * @throws DatabaseUnavailable when the server can't be reached, DatabaseError when the schema can't be used
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
