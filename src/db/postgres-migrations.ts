import { DatabaseError } from "./database-error.ts";
import { MIGRATIONS, migrationsIn } from "./migrations.ts";
import type { Postgres } from "./postgres.ts";
import statements from "./postgres-migrations.sql" with { type: "text" };

export interface PostgresMigration {
  /** Version of the schema after it: the number of `MIGRATIONS` up to SQLite's same migration. */
  number: number;
  /** Statements, run in one transaction. */
  sql: string;
  /**
   * Schema version of the oldest program that can use the database after this migration. A column of bases needs
   * the migration's own number here: older programs would rewrite bases without the column. While replicas are
   * upgraded, two versions use one database. A migration that removes something sets the first version that
   * does not need it.
   */
  oldest: number;
}

/** The schema of the first migration. */
const FIRST = 13;
/** `oldest` of the migrations after which older programs can use the database. */
const OLDEST = new Map([14, 15, 16, 17, 18, 19, 20, 21, 22].map((number) => [number, FIRST]));

/** All migrations of PostgreSQL. */
export const POSTGRES_MIGRATIONS: readonly PostgresMigration[] = migrationsIn(statements).map(
  (sql, index) => {
    const number = FIRST + index;
    return { number, sql, oldest: OLDEST.get(number) ?? number };
  },
);

/** Key of the advisory lock of migrations: any number that nobody else uses. */
const LOCK_KEY = 4_714_205_103;
/**
 * Milliseconds that a migration waits for the lock of a table. All later statements on that table wait
 * behind it. A migration that fails can be repeated.
 */
const LOCK_TIMEOUT_MS = 2_000;

/** The schema version that a database records. */
interface SchemaState {
  number: number;
  /** Schema version of the oldest program that can use the database. */
  oldest: number;
}

/** Reads the recorded schema version; `null` before the first migration. */
export async function readSchemaState(postgres: Postgres): Promise<SchemaState | null> {
  const [[isThere] = []] = await postgres.rows("SELECT to_regclass('ctxd_schema') IS NOT NULL");
  if (!isThere) return null;
  const [row] = await postgres.query<SchemaState>("SELECT number, oldest FROM ctxd_schema");
  return row ?? null;
}

/**
 * Runs all missing migrations, each in its own transaction. Several processes may do this at once, and
 * others may use the database meanwhile.
 * @throws DatabaseError when the schema is of a newer program and this one can't use it
 */
export async function migratePostgres(
  postgres: Postgres,
  migrations: readonly PostgresMigration[] = POSTGRES_MIGRATIONS,
): Promise<void> {
  const state = await readSchemaState(postgres);
  for (const step of migrations) {
    if (step.number > (state?.number ?? 0)) await postgres.script(scriptOf(step));
  }
  await checkSchema(postgres, migrations);
}

/** @throws DatabaseError when this program can't use the database's schema */
export async function checkSchema(
  postgres: Postgres,
  migrations: readonly PostgresMigration[] = POSTGRES_MIGRATIONS,
): Promise<void> {
  const known = migrations.at(-1)?.number ?? MIGRATIONS.length;
  const state = await readSchemaState(postgres);
  if (state === null || state.number < known) {
    const is = state === null ? "has no schema of ctxd yet" : `has schema ${state.number}`;
    throw new DatabaseError(
      `The PostgreSQL database ${is}, but this program needs schema ${known}: run ctxd migrate.`,
    );
  }
  if (state.oldest > known) {
    throw new DatabaseError(
      `The PostgreSQL database was migrated by a newer ctxd (schema ${state.number} needs programs of schema ${state.oldest} or later, this one knows ${known}): use that version or a newer one.`,
    );
  }
}

/**
 * The script of one migration. Without BEGIN, all of its statements are one transaction. A process that
 * waited for the lock finds the migration done and skips it.
 */
function scriptOf({ number, sql, oldest }: PostgresMigration): string {
  return `
    SELECT pg_advisory_xact_lock(${LOCK_KEY});
    SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};
    CREATE TABLE IF NOT EXISTS ctxd_schema (number integer NOT NULL, oldest integer NOT NULL);
    DO $step$ BEGIN
      IF (SELECT coalesce(max(number), 0) FROM ctxd_schema) < ${number} THEN
        ${sql}
        DELETE FROM ctxd_schema;
        INSERT INTO ctxd_schema VALUES (${number}, ${oldest});
      END IF;
    END $step$;`;
}
