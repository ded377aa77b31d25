/**
 * The database tables of the log in PostgreSQL. Unlike in SQLite, entries are numbered within their table,
 * and several processes write to them. Autovacuum of the journal has no threshold, because the journal is a
 * queue and a deleted text stays in its file until the next vacuum.
 */
export const LOG_SCHEMA = `
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
