import { DatabaseError } from "./database-error.ts";
import { MIGRATIONS } from "./migrations.ts";
import type { Postgres } from "./postgres.ts";
import { FIRST_SCHEMA } from "./postgres-schema.ts";

/**
 * The database tables of the log in PostgreSQL. Unlike in SQLite, entries are numbered within their table,
 * and several processes write to them. Autovacuum of the journal has no threshold, because the journal is a
 * queue and a deleted text stays in its file until the next vacuum.
 */
const LOG_SCHEMA = `
CREATE TABLE heads (
  name text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  memories bigint,
  bytes bigint,
  epoch bigint NOT NULL DEFAULT 0,
  owner text,
  lease_until bigint NOT NULL DEFAULT 0,
  due_at bigint
) WITH (fillfactor = 70);
CREATE INDEX heads_account_id ON heads (account_id);
CREATE INDEX heads_due_at ON heads (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE journal (
  name text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  written bytea,
  removed text NOT NULL,
  has_remains boolean NOT NULL,
  memories bigint NOT NULL,
  bytes bigint NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (name, seq)
) WITH (
  toast_tuple_target = 8160,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 0,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 0
);
ALTER TABLE journal ALTER COLUMN written SET STORAGE EXTERNAL;

CREATE TABLE copies (
  account_id text COLLATE "C" PRIMARY KEY,
  epoch bigint NOT NULL DEFAULT 0,
  owner text,
  lease_until bigint NOT NULL DEFAULT 0
);

CREATE TABLE checkpoints (
  name text COLLATE "C" PRIMARY KEY,
  base text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  up_to bigint NOT NULL,
  files text NOT NULL
);

CREATE TABLE tables (
  account_id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  model text NOT NULL
);

CREATE TABLE idempotency_keys (
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  key_hash text COLLATE "C" NOT NULL,
  request_hash text NOT NULL,
  memory_ids text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (account_id, key_hash)
);
CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

CREATE TABLE bases (
  base text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  epoch bigint NOT NULL,
  since bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('written', 'recorded', 'condemned'))
);
CREATE INDEX bases_name ON bases (name);
CREATE INDEX bases_unrecorded ON bases (since) WHERE state <> 'recorded';
`;

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

const BOUND_TO_PROJECTS = `
  ALTER TABLE api_keys ADD COLUMN project text COLLATE "C";
  ALTER TABLE api_keys ADD COLUMN project_only boolean NOT NULL DEFAULT false;
  ALTER TABLE oauth_grants ADD COLUMN project text COLLATE "C";
  ALTER TABLE oauth_grants ADD COLUMN project_only boolean NOT NULL DEFAULT false;
`;

/** `expires_at = 0` makes the server check each table of an earlier version once. */
const EXPIRY = `
  ALTER TABLE heads ADD COLUMN expires_at bigint;
  ALTER TABLE heads ADD COLUMN expiring_until bigint;
  CREATE INDEX heads_expires_at ON heads (expires_at) WHERE expires_at IS NOT NULL;
  UPDATE heads SET expires_at = 0;
`;

/** Activity is written some seconds late. The triggers drop activity of accounts removed meanwhile. */
const ACTIVITY = `
  CREATE TABLE activity_days (
    account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    day text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    source_id text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    times bigint NOT NULL,
    in_vain bigint NOT NULL,
    memories bigint NOT NULL,
    last_at bigint NOT NULL,
    PRIMARY KEY (account_id, day, kind, source_id, agent)
  );
  CREATE TABLE activity_events (
    id bigserial PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    at bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    source_id text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    agent text COLLATE "C",
    times bigint NOT NULL,
    in_vain bigint NOT NULL,
    memories bigint NOT NULL,
    memory_id text COLLATE "C",
    query text COLLATE "C"
  );
  CREATE INDEX activity_events_account_id ON activity_events (account_id, id);
  CREATE FUNCTION activity_of_nobody() RETURNS trigger LANGUAGE plpgsql AS $fn$
  BEGIN
    IF EXISTS (SELECT 1 FROM accounts WHERE id = NEW.account_id) THEN RETURN NEW; END IF;
    RETURN NULL;
  END $fn$;
  CREATE TRIGGER activity_of_nobody BEFORE INSERT ON activity_days
    FOR EACH ROW EXECUTE FUNCTION activity_of_nobody();
  CREATE TRIGGER activity_of_nobody BEFORE INSERT ON activity_events
    FOR EACH ROW EXECUTE FUNCTION activity_of_nobody();
  CREATE TABLE activity_settings (
    account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    queries_since bigint NOT NULL
  );
`;

const WAITING = `
  CREATE TABLE waiting_changes (
    id text COLLATE "C" PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    due_at bigint NOT NULL,
    begun_at bigint,
    change text NOT NULL
  );
  CREATE INDEX waiting_changes_account_id ON waiting_changes (account_id);
  CREATE INDEX waiting_changes_due_at ON waiting_changes (due_at);
`;

/** What the files of a base contain, as JSON. The secret of set-up links goes: now there are only hashes of them. */
const CONTENTS = `
  ALTER TABLE bases ADD COLUMN contents text;
  DELETE FROM server_secrets WHERE name = 'set-up';
`;

/**
 * All migrations of PostgreSQL, append only. They begin with SQLite's schema 13. Each later entry of
 * `MIGRATIONS` has an entry here.
 */
export const POSTGRES_MIGRATIONS: readonly PostgresMigration[] = [
  { number: 13, sql: FIRST_SCHEMA + LOG_SCHEMA, oldest: 13 },
  { number: 14, sql: BOUND_TO_PROJECTS, oldest: 13 },
  { number: 15, sql: EXPIRY, oldest: 13 },
  { number: 16, sql: ACTIVITY, oldest: 13 },
  { number: 17, sql: WAITING, oldest: 13 },
  { number: 18, sql: CONTENTS, oldest: 13 },
];

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
