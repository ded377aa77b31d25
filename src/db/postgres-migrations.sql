-- All migrations of PostgreSQL, append only. They begin with SQLite's schema 13. Each later migration of `migrations.sql` has
-- one of the same number here, even if it changes nothing.

-- 13: the schema of SQLite after its first 13 migrations
-- Texts are sorted by their bytes, as in SQLite. The log's tables differ from SQLite's: entries are numbered within
-- their table, and several processes write to them.

CREATE TABLE accounts (
  id text COLLATE "C" PRIMARY KEY,
  email text COLLATE "C" NOT NULL UNIQUE,
  password_hash text COLLATE "C",
  role text COLLATE "C" NOT NULL CHECK (role IN ('owner', 'member')),
  created_at bigint NOT NULL,
  disabled_at bigint
);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  hash text COLLATE "C" NOT NULL UNIQUE,
  prefix text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  scopes text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  last_used_at bigint,
  expires_at bigint,
  revoked_at bigint
);
CREATE INDEX api_keys_account_id ON api_keys (account_id);

CREATE TABLE removed_accounts (id text COLLATE "C" PRIMARY KEY);

CREATE TABLE invitations (
  id text COLLATE "C" PRIMARY KEY,
  hash text COLLATE "C" NOT NULL UNIQUE,
  email text COLLATE "C",
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);

CREATE TABLE quotas (
  account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  memories bigint,
  bytes bigint
);

CREATE TABLE sessions (
  hash text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  browser text COLLATE "C" NOT NULL DEFAULT '',
  last_used_at bigint,
  proved_at bigint
);
CREATE INDEX sessions_account_id ON sessions (account_id);
CREATE INDEX sessions_expires_at ON sessions (expires_at);

CREATE TABLE server_secrets (
  name text COLLATE "C" PRIMARY KEY,
  value text COLLATE "C" NOT NULL
);

CREATE TABLE identities (
  issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  created_at bigint NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_account_id ON identities (account_id);

CREATE TABLE passkeys (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  last_used_at bigint
);
CREATE INDEX passkeys_account_id ON passkeys (account_id);

CREATE TABLE one_time_codes (
  account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  secret bytea NOT NULL,
  confirmed_at bigint,
  last_step bigint NOT NULL,
  failures double precision NOT NULL,
  failed_at bigint NOT NULL
);

CREATE TABLE recovery_codes (
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, hash)
);

CREATE TABLE pending_sign_ins (
  hash text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  next text COLLATE "C",
  tries_left bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX pending_sign_ins_account_id ON pending_sign_ins (account_id);
CREATE INDEX pending_sign_ins_expires_at ON pending_sign_ins (expires_at);

CREATE TABLE passkey_challenges (
  hash text COLLATE "C" PRIMARY KEY,
  challenge text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX passkey_challenges_expires_at ON passkey_challenges (expires_at);

CREATE TABLE oauth_clients (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  redirect_uris text COLLATE "C" NOT NULL,
  secret_hash text COLLATE "C",
  created_at bigint NOT NULL,
  used_at bigint,
  asked_at bigint
);
CREATE INDEX oauth_clients_unused ON oauth_clients (created_at) WHERE used_at IS NULL;

CREATE TABLE oauth_grants (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  client_id text COLLATE "C" NOT NULL,
  client_name text COLLATE "C" NOT NULL,
  redirect_host text COLLATE "C" NOT NULL,
  scopes text COLLATE "C" NOT NULL,
  resource text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  last_used_at bigint,
  expires_at bigint NOT NULL,
  revoked_at bigint,
  must_sign boolean NOT NULL DEFAULT false
);
CREATE INDEX oauth_grants_account_id ON oauth_grants (account_id);
CREATE INDEX oauth_grants_client_id ON oauth_grants (client_id);
CREATE INDEX oauth_grants_expires_at ON oauth_grants (expires_at);

CREATE TABLE oauth_codes (
  hash text COLLATE "C" PRIMARY KEY,
  grant_id text COLLATE "C" NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
  redirect_uri text COLLATE "C" NOT NULL,
  challenge text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint
);
CREATE INDEX oauth_codes_grant_id ON oauth_codes (grant_id);

CREATE TABLE oauth_tokens (
  hash text COLLATE "C" PRIMARY KEY,
  grant_id text COLLATE "C" NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('access', 'refresh')),
  scopes text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  successor text COLLATE "C",
  repeated_at bigint
);
CREATE INDEX oauth_tokens_grant_id ON oauth_tokens (grant_id);
CREATE INDEX oauth_tokens_expires_at ON oauth_tokens (expires_at);

CREATE TABLE security_events (
  id bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY,
  at bigint NOT NULL,
  event text COLLATE "C" NOT NULL,
  account_id text COLLATE "C",
  actor_id text COLLATE "C",
  via text COLLATE "C" NOT NULL,
  address text COLLATE "C",
  agent text COLLATE "C",
  subject_id text COLLATE "C",
  subject text COLLATE "C",
  amount bigint,
  times bigint NOT NULL
);
CREATE INDEX security_events_account_id ON security_events (account_id, id);
CREATE INDEX security_events_at ON security_events (at);

CREATE TABLE ephemeral (
  key text COLLATE "C" PRIMARY KEY,
  value text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX ephemeral_expires_at ON ephemeral (expires_at);

-- A new password ends what was begun with the old one, whoever changes it.
CREATE FUNCTION sessions_end_with_password() RETURNS trigger LANGUAGE plpgsql AS $fn$
BEGIN
  DELETE FROM sessions WHERE account_id = NEW.id;
  RETURN NULL;
END $fn$;
CREATE TRIGGER sessions_end_with_password AFTER UPDATE OF password_hash ON accounts
  FOR EACH ROW EXECUTE FUNCTION sessions_end_with_password();

CREATE FUNCTION pending_sign_ins_end() RETURNS trigger LANGUAGE plpgsql AS $fn$
BEGIN
  DELETE FROM pending_sign_ins WHERE account_id = NEW.id;
  RETURN NULL;
END $fn$;
CREATE TRIGGER pending_sign_ins_end AFTER UPDATE OF password_hash, disabled_at ON accounts
  FOR EACH ROW EXECUTE FUNCTION pending_sign_ins_end();

CREATE FUNCTION owner_is_enabled() RETURNS trigger LANGUAGE plpgsql AS $fn$
BEGIN
  RAISE EXCEPTION 'the owner of the server can not be disabled';
END $fn$;
CREATE TRIGGER owner_is_enabled BEFORE UPDATE OF role, disabled_at ON accounts
  FOR EACH ROW WHEN (NEW.role = 'owner' AND NEW.disabled_at IS NOT NULL)
  EXECUTE FUNCTION owner_is_enabled();

-- A revoked grant stays in the list for 30 days.
CREATE FUNCTION access_ends_with_disabling() RETURNS trigger LANGUAGE plpgsql AS $fn$
BEGIN
  DELETE FROM sessions WHERE account_id = NEW.id;
  DELETE FROM oauth_tokens
    WHERE grant_id IN (SELECT id FROM oauth_grants WHERE account_id = NEW.id);
  UPDATE oauth_grants SET revoked_at = NEW.disabled_at, expires_at = NEW.disabled_at + 2592000000
    WHERE account_id = NEW.id AND revoked_at IS NULL;
  RETURN NULL;
END $fn$;
CREATE TRIGGER access_ends_with_disabling AFTER UPDATE OF disabled_at ON accounts
  FOR EACH ROW WHEN (NEW.disabled_at IS NOT NULL)
  EXECUTE FUNCTION access_ends_with_disabling();

-- Of a removed account its id stays; where another account did it, the address is that one's.
CREATE FUNCTION security_events_of_removed() RETURNS trigger LANGUAGE plpgsql AS $fn$
BEGIN
  UPDATE security_events SET subject = NULL WHERE account_id = OLD.id;
  UPDATE security_events SET address = NULL, agent = NULL
    WHERE (account_id = OLD.id AND actor_id IS NULL) OR actor_id = OLD.id;
  RETURN NULL;
END $fn$;
CREATE TRIGGER security_events_of_removed AFTER DELETE ON accounts
  FOR EACH ROW EXECUTE FUNCTION security_events_of_removed();

CREATE FUNCTION security_events_of_nobody() RETURNS trigger LANGUAGE plpgsql AS $fn$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM accounts WHERE id = NEW.account_id) THEN
    NEW.address := NULL;
    NEW.agent := NULL;
    NEW.subject := NULL;
  END IF;
  RETURN NEW;
END $fn$;
CREATE TRIGGER security_events_of_nobody BEFORE INSERT ON security_events
  FOR EACH ROW WHEN (NEW.account_id IS NOT NULL AND NEW.actor_id IS NULL)
  EXECUTE FUNCTION security_events_of_nobody();

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

-- Autovacuum has no threshold: the journal is a queue, and a deleted text stays in its file until the next vacuum.
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

-- 14: keys and grants of a project

ALTER TABLE api_keys ADD COLUMN project text COLLATE "C";
ALTER TABLE api_keys ADD COLUMN project_only boolean NOT NULL DEFAULT false;
ALTER TABLE oauth_grants ADD COLUMN project text COLLATE "C";
ALTER TABLE oauth_grants ADD COLUMN project_only boolean NOT NULL DEFAULT false;

-- 15: expiry
-- `expires_at = 0` makes the server check each table of an earlier version once.

ALTER TABLE heads ADD COLUMN expires_at bigint;
ALTER TABLE heads ADD COLUMN expiring_until bigint;
CREATE INDEX heads_expires_at ON heads (expires_at) WHERE expires_at IS NOT NULL;
UPDATE heads SET expires_at = 0;

-- 16: activity
-- Activity is written some seconds late. The triggers drop activity of accounts removed meanwhile.

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

-- 17: changes that can be undone

CREATE TABLE waiting_changes (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  due_at bigint NOT NULL,
  begun_at bigint,
  change text NOT NULL
);
CREATE INDEX waiting_changes_account_id ON waiting_changes (account_id);
CREATE INDEX waiting_changes_due_at ON waiting_changes (due_at);

-- 18: the contents of bases
-- What the files of a base contain, as JSON. The secret of set-up links goes: now there are only hashes of them.

ALTER TABLE bases ADD COLUMN contents text;
DELETE FROM server_secrets WHERE name = 'set-up';

-- 19: pauses
-- A server of an earlier version, which may use the same database, does not know them and ignores them.

ALTER TABLE api_keys ADD COLUMN paused_at bigint;
ALTER TABLE oauth_grants ADD COLUMN paused_at bigint;

-- 20: spaces
-- The memories of a space are those of an account without a person, which has the same id. Who leaves a space loses the keys
-- and grants that are bound to it. A server of an earlier version, which may use the same database, does not know spaces
-- and finds none of those keys and grants.

CREATE TABLE spaces (
  id text COLLATE "C" PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  projects text COLLATE "C" NOT NULL,
  disabled_at bigint
);

CREATE TABLE space_members (
  space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  role text COLLATE "C" NOT NULL CHECK (role IN ('read', 'write', 'admin')),
  joined_at bigint NOT NULL,
  PRIMARY KEY (space_id, account_id)
);
CREATE INDEX space_members_account_id ON space_members (account_id);

CREATE TABLE space_invitations (
  id text COLLATE "C" PRIMARY KEY,
  space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  hash text COLLATE "C" NOT NULL UNIQUE,
  email text COLLATE "C",
  invited_by text COLLATE "C" REFERENCES accounts (id) ON DELETE CASCADE,
  role text COLLATE "C" NOT NULL CHECK (role IN ('read', 'write', 'admin')),
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX space_invitations_space_id ON space_invitations (space_id);
CREATE INDEX space_invitations_email ON space_invitations (email);
CREATE INDEX space_invitations_invited_by ON space_invitations (invited_by);

ALTER TABLE api_keys ADD COLUMN space_id text COLLATE "C";
ALTER TABLE oauth_grants ADD COLUMN space_id text COLLATE "C";
ALTER TABLE waiting_changes ADD COLUMN person_id text COLLATE "C";
CREATE FUNCTION access_of_former_members() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
  DELETE FROM api_keys WHERE account_id = OLD.account_id AND space_id = OLD.space_id;
  DELETE FROM oauth_grants WHERE account_id = OLD.account_id AND space_id = OLD.space_id;
  RETURN OLD;
END $body$;
CREATE TRIGGER access_of_former_members AFTER DELETE ON space_members
  FOR EACH ROW EXECUTE FUNCTION access_of_former_members();

-- 21: likenesses
-- Pairs of memories that say the same or of which one changes the other's fact, by their ids alone. They leave with the table.

CREATE TABLE likenesses (
  name text COLLATE "C" NOT NULL REFERENCES heads (name) ON DELETE CASCADE,
  later text COLLATE "C" NOT NULL,
  earlier text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('same', 'changed')),
  changed_at bigint NOT NULL,
  PRIMARY KEY (name, later, earlier)
);
CREATE INDEX likenesses_earlier ON likenesses (name, earlier);

CREATE TABLE uncompared (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL REFERENCES heads (name) ON DELETE CASCADE,
  ids text COLLATE "C" NOT NULL
);
CREATE INDEX uncompared_name ON uncompared (name);

CREATE TABLE comparisons (
  name text COLLATE "C" PRIMARY KEY REFERENCES heads (name) ON DELETE CASCADE,
  position text COLLATE "C" NOT NULL
);

-- 22: uses of memories
-- Only ids and numbers. Uses are written some seconds late: the triggers drop those of removed accounts and of accounts that
-- count none, and forget a memory's uses in the transaction that removes the memory. `since` is null for accounts that count
-- none. Accounts without a row count since they exist.

CREATE TABLE memory_uses (
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  memory_id text COLLATE "C" NOT NULL,
  source_id text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  found bigint NOT NULL,
  recalled bigint NOT NULL,
  used bigint NOT NULL,
  found_at bigint,
  recalled_at bigint,
  used_at bigint,
  PRIMARY KEY (account_id, memory_id)
);

CREATE TABLE use_settings (
  account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  since bigint
);
INSERT INTO use_settings (account_id, since)
  SELECT id, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM accounts;

CREATE FUNCTION memory_uses_not_counted() RETURNS trigger LANGUAGE plpgsql AS $fn$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM accounts WHERE id = NEW.account_id)
    OR EXISTS (SELECT 1 FROM use_settings WHERE account_id = NEW.account_id AND since IS NULL)
  THEN RETURN NULL; END IF;
  RETURN NEW;
END $fn$;
CREATE TRIGGER memory_uses_not_counted BEFORE INSERT ON memory_uses
  FOR EACH ROW EXECUTE FUNCTION memory_uses_not_counted();
CREATE FUNCTION uses_of_removed_memories() RETURNS trigger LANGUAGE plpgsql AS $fn$
BEGIN
  DELETE FROM memory_uses WHERE account_id = split_part(NEW.name, '.', 1)
    AND memory_id IN (SELECT json_array_elements_text(NEW.removed::json));
  RETURN NULL;
END $fn$;
CREATE TRIGGER uses_of_removed_memories AFTER INSERT ON journal
  FOR EACH ROW WHEN (NEW.removed <> '[]') EXECUTE FUNCTION uses_of_removed_memories();
