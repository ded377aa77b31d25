-- All migrations of SQLite, append only. Each begins with a line of its number; `migrations.ts` runs them. Make the same
-- change in the table declarations of the domain, and in `postgres-migrations.sql`.
--
-- SQLite keeps the text of a statement with its white space, and a restore compares it: what is here stays as it is.

-- 1: accounts and API keys

   CREATE TABLE accounts (
     id TEXT PRIMARY KEY NOT NULL,
     email TEXT NOT NULL UNIQUE,
     password_hash TEXT,
     role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
     created_at INTEGER NOT NULL
   ) STRICT;

   CREATE TABLE api_keys (
     id TEXT PRIMARY KEY NOT NULL,
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     hash TEXT NOT NULL UNIQUE,
     prefix TEXT NOT NULL,
     name TEXT NOT NULL,
     scopes TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     last_used_at INTEGER,
     expires_at INTEGER,
     revoked_at INTEGER
   ) STRICT;
   CREATE INDEX api_keys_account_id ON api_keys (account_id);

-- 2: removed accounts, keys of idempotency

   CREATE TABLE removed_accounts (
     id TEXT PRIMARY KEY NOT NULL
   ) STRICT;

   CREATE TABLE idempotency_keys (
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     key_hash TEXT NOT NULL,
     request_hash TEXT NOT NULL,
     memory_ids TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     PRIMARY KEY (account_id, key_hash)
   ) STRICT;
   CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

-- 3: the log of memories

   CREATE TABLE journal (
     seq INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
     account_id TEXT NOT NULL,
     written BLOB,
     removed TEXT NOT NULL
   ) STRICT;
   CREATE INDEX journal_account_id ON journal (account_id, seq);

   CREATE TABLE checkpoints (
     account_id TEXT PRIMARY KEY NOT NULL,
     version INTEGER NOT NULL,
     files TEXT NOT NULL,
     has_remains INTEGER NOT NULL
   ) STRICT;

-- 4: sessions, apps
-- Every change of a password ends the sessions that began with the old one.

   CREATE TABLE sessions (
     hash TEXT PRIMARY KEY NOT NULL,
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     created_at INTEGER NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX sessions_account_id ON sessions (account_id);
   CREATE INDEX sessions_expires_at ON sessions (expires_at);
   CREATE TRIGGER sessions_end_with_password AFTER UPDATE OF password_hash ON accounts BEGIN
     DELETE FROM sessions WHERE account_id = NEW.id;
   END;

   CREATE TABLE oauth_clients (
     id TEXT PRIMARY KEY NOT NULL,
     name TEXT NOT NULL,
     redirect_uris TEXT NOT NULL,
     secret_hash TEXT,
     created_at INTEGER NOT NULL,
     used_at INTEGER
   ) STRICT;
   CREATE INDEX oauth_clients_unused ON oauth_clients (created_at) WHERE used_at IS NULL;

   CREATE TABLE oauth_grants (
     id TEXT PRIMARY KEY NOT NULL,
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     client_id TEXT NOT NULL,
     client_name TEXT NOT NULL,
     redirect_host TEXT NOT NULL,
     scopes TEXT NOT NULL,
     resource TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     last_used_at INTEGER,
     expires_at INTEGER NOT NULL,
     revoked_at INTEGER
   ) STRICT;
   CREATE INDEX oauth_grants_account_id ON oauth_grants (account_id);
   CREATE INDEX oauth_grants_expires_at ON oauth_grants (expires_at);

   CREATE TABLE oauth_codes (
     hash TEXT PRIMARY KEY NOT NULL,
     grant_id TEXT NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
     redirect_uri TEXT NOT NULL,
     challenge TEXT NOT NULL,
     expires_at INTEGER NOT NULL,
     used_at INTEGER
   ) STRICT;
   CREATE INDEX oauth_codes_grant_id ON oauth_codes (grant_id);

   CREATE TABLE oauth_tokens (
     hash TEXT PRIMARY KEY NOT NULL,
     grant_id TEXT NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
     kind TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
     scopes TEXT NOT NULL,
     expires_at INTEGER NOT NULL,
     used_at INTEGER
   ) STRICT;
   CREATE INDEX oauth_tokens_grant_id ON oauth_tokens (grant_id);
   CREATE INDEX oauth_tokens_expires_at ON oauth_tokens (expires_at);

-- 5: browsers, invitations, providers

   ALTER TABLE sessions ADD COLUMN browser TEXT NOT NULL DEFAULT '';
   ALTER TABLE sessions ADD COLUMN last_used_at INTEGER;

   CREATE TABLE invitations (
     id TEXT PRIMARY KEY NOT NULL,
     hash TEXT NOT NULL UNIQUE,
     email TEXT,
     created_at INTEGER NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT;

   CREATE TABLE identities (
     issuer TEXT NOT NULL,
     subject TEXT NOT NULL,
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     created_at INTEGER NOT NULL,
     PRIMARY KEY (issuer, subject)
   ) STRICT;
   CREATE INDEX identities_account_id ON identities (account_id);

-- 6: tables with other models
-- Journal and checkpoints refer to a table by name: the first is the account's id, later ones differ.

   CREATE TABLE tables (
     account_id TEXT PRIMARY KEY NOT NULL,
     name TEXT NOT NULL,
     model TEXT NOT NULL
   ) STRICT;

-- 7: quotas

   CREATE TABLE quotas (
     account_id TEXT PRIMARY KEY NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     memories INTEGER,
     bytes INTEGER
   ) STRICT;

-- 8: the security log
-- A removed account's id stays in its events. An address stays only if another account acted.

   CREATE TABLE security_events (
     id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
     at INTEGER NOT NULL,
     event TEXT NOT NULL,
     account_id TEXT,
     actor_id TEXT,
     via TEXT NOT NULL,
     address TEXT,
     agent TEXT,
     subject_id TEXT,
     subject TEXT,
     amount INTEGER,
     times INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX security_events_account_id ON security_events (account_id, id);
   CREATE INDEX security_events_at ON security_events (at);
   CREATE TRIGGER security_events_of_removed AFTER DELETE ON accounts BEGIN
     UPDATE security_events SET subject = NULL WHERE account_id = OLD.id;
     UPDATE security_events SET address = NULL, agent = NULL
       WHERE (account_id = OLD.id AND actor_id IS NULL) OR actor_id = OLD.id;
   END;
   CREATE TRIGGER security_events_of_nobody AFTER INSERT ON security_events
     WHEN NEW.account_id IS NOT NULL AND NEW.actor_id IS NULL
       AND NOT EXISTS (SELECT 1 FROM accounts WHERE id = NEW.account_id)
   BEGIN
     UPDATE security_events SET address = NULL, agent = NULL, subject = NULL WHERE id = NEW.id;
   END;

-- 9: tokens that are repeated, clients without a registration

   ALTER TABLE oauth_tokens ADD COLUMN successor TEXT;
   ALTER TABLE oauth_tokens ADD COLUMN repeated_at INTEGER;
   ALTER TABLE oauth_grants ADD COLUMN must_sign INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE oauth_clients ADD COLUMN asked_at INTEGER;
   CREATE INDEX oauth_grants_client_id ON oauth_grants (client_id);

-- 10: secrets of the server

   CREATE TABLE server_secrets (
     name TEXT PRIMARY KEY NOT NULL,
     value TEXT NOT NULL
   ) STRICT;

-- 11: disabled accounts
-- API keys of a disabled account are refused until it is enabled. Sessions, tokens and grants, which a
-- person can create again, end permanently. A revoked grant stays in the list for 30 days, as in `oauth/grants.ts`.

   ALTER TABLE accounts ADD COLUMN disabled_at INTEGER;
   CREATE TRIGGER owner_is_enabled BEFORE UPDATE OF role, disabled_at ON accounts
     WHEN NEW.role = 'owner' AND NEW.disabled_at IS NOT NULL
   BEGIN
     SELECT RAISE(ABORT, 'the owner of the server can not be disabled');
   END;
   CREATE TRIGGER access_ends_with_disabling AFTER UPDATE OF disabled_at ON accounts
     WHEN NEW.disabled_at IS NOT NULL
   BEGIN
     DELETE FROM sessions WHERE account_id = NEW.id;
     DELETE FROM oauth_tokens
       WHERE grant_id IN (SELECT id FROM oauth_grants WHERE account_id = NEW.id);
     UPDATE oauth_grants SET revoked_at = NEW.disabled_at, expires_at = NEW.disabled_at + 2592000000
       WHERE account_id = NEW.id AND revoked_at IS NULL;
   END;

-- 12: second factors

   ALTER TABLE sessions ADD COLUMN proved_at INTEGER;

   CREATE TABLE passkeys (
     id TEXT PRIMARY KEY NOT NULL,
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     public_key BLOB NOT NULL,
     counter INTEGER NOT NULL,
     transports TEXT NOT NULL,
     name TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     last_used_at INTEGER
   ) STRICT;
   CREATE INDEX passkeys_account_id ON passkeys (account_id);

   CREATE TABLE one_time_codes (
     account_id TEXT PRIMARY KEY NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     secret BLOB NOT NULL,
     confirmed_at INTEGER,
     last_step INTEGER NOT NULL,
     failures REAL NOT NULL,
     failed_at INTEGER NOT NULL
   ) STRICT;

   CREATE TABLE recovery_codes (
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     hash TEXT NOT NULL,
     PRIMARY KEY (account_id, hash)
   ) STRICT;

   CREATE TABLE pending_sign_ins (
     hash TEXT PRIMARY KEY NOT NULL,
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     next TEXT,
     tries_left INTEGER NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX pending_sign_ins_account_id ON pending_sign_ins (account_id);
   CREATE INDEX pending_sign_ins_expires_at ON pending_sign_ins (expires_at);
   CREATE TRIGGER pending_sign_ins_end AFTER UPDATE OF password_hash, disabled_at ON accounts BEGIN
     DELETE FROM pending_sign_ins WHERE account_id = NEW.id;
   END;

   CREATE TABLE passkey_challenges (
     hash TEXT PRIMARY KEY NOT NULL,
     challenge TEXT NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX passkey_challenges_expires_at ON passkey_challenges (expires_at);

-- 13: bases
-- An entry without content makes a flush due for tables whose files still contain deleted data.

   ALTER TABLE journal ADD COLUMN has_remains INTEGER NOT NULL DEFAULT 1;
   ALTER TABLE journal ADD COLUMN at INTEGER;
   INSERT INTO journal (account_id, removed)
     SELECT account_id, '[]' FROM checkpoints WHERE has_remains = 1;

   ALTER TABLE checkpoints ADD COLUMN base TEXT NOT NULL DEFAULT '';
   ALTER TABLE checkpoints ADD COLUMN up_to INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE checkpoints DROP COLUMN has_remains;
   UPDATE checkpoints SET base = account_id;

   CREATE TABLE heads (
     name TEXT PRIMARY KEY NOT NULL,
     seq INTEGER NOT NULL,
     memories INTEGER,
     bytes INTEGER
   ) STRICT;
   INSERT INTO heads (name, seq)
     SELECT name, max(seq) FROM (
       SELECT account_id AS name, seq FROM journal UNION ALL SELECT account_id, 0 FROM checkpoints
     ) GROUP BY name;

   INSERT OR IGNORE INTO tables (account_id, name, model)
     SELECT name, name, '' FROM heads WHERE instr(name, '.') = 0;

-- 14: keys and grants of a project

   ALTER TABLE api_keys ADD COLUMN project TEXT;
   ALTER TABLE api_keys ADD COLUMN project_only INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE oauth_grants ADD COLUMN project TEXT;
   ALTER TABLE oauth_grants ADD COLUMN project_only INTEGER NOT NULL DEFAULT 0;

-- 15: expiry
-- `expires_at = 0` makes the server check each table of an earlier version once.

   ALTER TABLE heads ADD COLUMN expires_at INTEGER;
   CREATE INDEX heads_expires_at ON heads (expires_at) WHERE expires_at IS NOT NULL;
   UPDATE heads SET expires_at = 0;

-- 16: activity
-- Activity is written some seconds late. The triggers drop activity of accounts removed meanwhile.

   CREATE TABLE activity_days (
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     day TEXT NOT NULL,
     kind TEXT NOT NULL,
     source_id TEXT NOT NULL,
     agent TEXT NOT NULL,
     source TEXT NOT NULL,
     times INTEGER NOT NULL,
     in_vain INTEGER NOT NULL,
     memories INTEGER NOT NULL,
     last_at INTEGER NOT NULL,
     PRIMARY KEY (account_id, day, kind, source_id, agent)
   ) STRICT;
   CREATE TRIGGER activity_days_of_nobody BEFORE INSERT ON activity_days
     WHEN NOT EXISTS (SELECT 1 FROM accounts WHERE id = NEW.account_id)
   BEGIN
     SELECT RAISE(IGNORE);
   END;

   CREATE TABLE activity_events (
     id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     at INTEGER NOT NULL,
     kind TEXT NOT NULL,
     source_id TEXT NOT NULL,
     source TEXT NOT NULL,
     agent TEXT,
     times INTEGER NOT NULL,
     in_vain INTEGER NOT NULL,
     memories INTEGER NOT NULL,
     memory_id TEXT,
     query TEXT
   ) STRICT;
   CREATE INDEX activity_events_account_id ON activity_events (account_id, id);
   CREATE TRIGGER activity_events_of_nobody BEFORE INSERT ON activity_events
     WHEN NOT EXISTS (SELECT 1 FROM accounts WHERE id = NEW.account_id)
   BEGIN
     SELECT RAISE(IGNORE);
   END;

   CREATE TABLE activity_settings (
     account_id TEXT PRIMARY KEY NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     queries_since INTEGER NOT NULL
   ) STRICT;

-- 17: changes that can be undone

   CREATE TABLE waiting_changes (
     id TEXT PRIMARY KEY NOT NULL,
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     due_at INTEGER NOT NULL,
     begun_at INTEGER,
     change TEXT NOT NULL
   ) STRICT;
   CREATE INDEX waiting_changes_account_id ON waiting_changes (account_id);
   CREATE INDEX waiting_changes_due_at ON waiting_changes (due_at);

-- 18: the contents of bases
-- Only the files of replicas' bases are recorded with their contents.

   SELECT 1;

-- 19: pauses

   ALTER TABLE api_keys ADD COLUMN paused_at INTEGER;
   ALTER TABLE oauth_grants ADD COLUMN paused_at INTEGER;

-- 20: spaces
-- The memories of a space are those of an account without a person, which has the same id. Who leaves a space loses the keys
-- and grants that are bound to it.

   CREATE TABLE spaces (
     id TEXT PRIMARY KEY NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     name TEXT NOT NULL,
     projects TEXT NOT NULL,
     disabled_at INTEGER
   ) STRICT;

   CREATE TABLE space_members (
     space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     role TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin')),
     joined_at INTEGER NOT NULL,
     PRIMARY KEY (space_id, account_id)
   ) STRICT;
   CREATE INDEX space_members_account_id ON space_members (account_id);

   CREATE TABLE space_invitations (
     id TEXT PRIMARY KEY NOT NULL,
     space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
     hash TEXT NOT NULL UNIQUE,
     email TEXT,
     invited_by TEXT REFERENCES accounts (id) ON DELETE CASCADE,
     role TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin')),
     created_at INTEGER NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX space_invitations_space_id ON space_invitations (space_id);
   CREATE INDEX space_invitations_email ON space_invitations (email);
   CREATE INDEX space_invitations_invited_by ON space_invitations (invited_by);

   ALTER TABLE api_keys ADD COLUMN space_id TEXT;
   ALTER TABLE oauth_grants ADD COLUMN space_id TEXT;
   ALTER TABLE waiting_changes ADD COLUMN person_id TEXT;
   CREATE TRIGGER access_of_former_members AFTER DELETE ON space_members
   BEGIN
     DELETE FROM api_keys WHERE account_id = OLD.account_id AND space_id = OLD.space_id;
     DELETE FROM oauth_grants WHERE account_id = OLD.account_id AND space_id = OLD.space_id;
   END;

-- 21: likenesses
-- Pairs of memories that say the same or of which one changes the other's fact, by their ids alone. They leave with the table.

   CREATE TABLE likenesses (
     name TEXT NOT NULL REFERENCES heads (name) ON DELETE CASCADE,
     later TEXT NOT NULL,
     earlier TEXT NOT NULL,
     kind TEXT NOT NULL CHECK (kind IN ('same', 'changed')),
     changed_at INTEGER NOT NULL,
     PRIMARY KEY (name, later, earlier)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX likenesses_earlier ON likenesses (name, earlier);

   CREATE TABLE uncompared (
     number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
     name TEXT NOT NULL REFERENCES heads (name) ON DELETE CASCADE,
     ids TEXT NOT NULL
   ) STRICT;
   CREATE INDEX uncompared_name ON uncompared (name);

   CREATE TABLE comparisons (
     name TEXT PRIMARY KEY NOT NULL REFERENCES heads (name) ON DELETE CASCADE,
     position TEXT NOT NULL
   ) STRICT;

-- 22: uses of memories
-- Only ids and numbers. Uses are written some seconds late: the triggers drop those of removed accounts and of accounts that
-- count none, and forget a memory's uses in the transaction that removes the memory. `since` is null for accounts that count
-- none. Accounts without a row count since they exist.

   CREATE TABLE memory_uses (
     account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     memory_id TEXT NOT NULL,
     source_id TEXT NOT NULL,
     agent TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     found INTEGER NOT NULL,
     recalled INTEGER NOT NULL,
     used INTEGER NOT NULL,
     found_at INTEGER,
     recalled_at INTEGER,
     used_at INTEGER,
     PRIMARY KEY (account_id, memory_id)
   ) STRICT, WITHOUT ROWID;

   CREATE TABLE use_settings (
     account_id TEXT PRIMARY KEY NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
     since INTEGER
   ) STRICT;
   INSERT INTO use_settings (account_id, since)
     SELECT id, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM accounts;

   CREATE TRIGGER memory_uses_not_counted BEFORE INSERT ON memory_uses
     WHEN NOT EXISTS (SELECT 1 FROM accounts WHERE id = NEW.account_id)
       OR EXISTS (SELECT 1 FROM use_settings WHERE account_id = NEW.account_id AND since IS NULL)
   BEGIN
     SELECT RAISE(IGNORE);
   END;
   CREATE TRIGGER uses_of_removed_memories AFTER INSERT ON journal WHEN NEW.removed <> '[]'
   BEGIN
     DELETE FROM memory_uses
       WHERE account_id = substr(NEW.account_id, 1, instr(NEW.account_id || '.', '.') - 1)
         AND memory_id IN (SELECT value FROM json_each(NEW.removed));
   END;
