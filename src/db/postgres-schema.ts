/**
 * The first PostgreSQL schema, equal to SQLite's after the first 13 entries of `migrations.ts`. The log's
 * tables differ from SQLite's, because several processes write to them. Texts are sorted by their bytes, as
 * in SQLite.
 */
export const FIRST_SCHEMA = `
  CREATE TABLE accounts (
    id text PRIMARY KEY,
    email text NOT NULL UNIQUE,
    password_hash text,
    role text NOT NULL CHECK (role IN ('owner', 'member')),
    created_at bigint NOT NULL,
    disabled_at bigint
  );

  CREATE TABLE api_keys (
    id text PRIMARY KEY,
    account_id text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    hash text NOT NULL UNIQUE,
    prefix text NOT NULL,
    name text NOT NULL,
    scopes text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint,
    expires_at bigint,
    revoked_at bigint
  );
  CREATE INDEX api_keys_account_id ON api_keys (account_id);

  CREATE TABLE removed_accounts (id text PRIMARY KEY);

  CREATE TABLE invitations (
    id text PRIMARY KEY,
    hash text NOT NULL UNIQUE,
    email text,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
  );

  CREATE TABLE quotas (
    account_id text PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    memories bigint,
    bytes bigint
  );

  CREATE TABLE sessions (
    hash text PRIMARY KEY,
    account_id text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    browser text NOT NULL DEFAULT '',
    last_used_at bigint,
    proved_at bigint
  );
  CREATE INDEX sessions_account_id ON sessions (account_id);
  CREATE INDEX sessions_expires_at ON sessions (expires_at);

  CREATE TABLE server_secrets (
    name text PRIMARY KEY,
    value text NOT NULL
  );

  CREATE TABLE identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    account_id text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at bigint NOT NULL,
    PRIMARY KEY (issuer, subject)
  );
  CREATE INDEX identities_account_id ON identities (account_id);

  CREATE TABLE passkeys (
    id text PRIMARY KEY,
    account_id text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    public_key bytea NOT NULL,
    counter bigint NOT NULL,
    transports text NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint
  );
  CREATE INDEX passkeys_account_id ON passkeys (account_id);

  CREATE TABLE one_time_codes (
    account_id text PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    secret bytea NOT NULL,
    confirmed_at bigint,
    last_step bigint NOT NULL,
    failures double precision NOT NULL,
    failed_at bigint NOT NULL
  );

  CREATE TABLE recovery_codes (
    account_id text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    hash text NOT NULL,
    PRIMARY KEY (account_id, hash)
  );

  CREATE TABLE pending_sign_ins (
    hash text PRIMARY KEY,
    account_id text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    next text,
    tries_left bigint NOT NULL,
    expires_at bigint NOT NULL
  );
  CREATE INDEX pending_sign_ins_account_id ON pending_sign_ins (account_id);
  CREATE INDEX pending_sign_ins_expires_at ON pending_sign_ins (expires_at);

  CREATE TABLE passkey_challenges (
    hash text PRIMARY KEY,
    challenge text NOT NULL,
    expires_at bigint NOT NULL
  );
  CREATE INDEX passkey_challenges_expires_at ON passkey_challenges (expires_at);

  CREATE TABLE oauth_clients (
    id text PRIMARY KEY,
    name text NOT NULL,
    redirect_uris text NOT NULL,
    secret_hash text,
    created_at bigint NOT NULL,
    used_at bigint,
    asked_at bigint
  );
  CREATE INDEX oauth_clients_unused ON oauth_clients (created_at) WHERE used_at IS NULL;

  CREATE TABLE oauth_grants (
    id text PRIMARY KEY,
    account_id text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    client_id text NOT NULL,
    client_name text NOT NULL,
    redirect_host text NOT NULL,
    scopes text NOT NULL,
    resource text NOT NULL,
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
    hash text PRIMARY KEY,
    grant_id text NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
    redirect_uri text NOT NULL,
    challenge text NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint
  );
  CREATE INDEX oauth_codes_grant_id ON oauth_codes (grant_id);

  CREATE TABLE oauth_tokens (
    hash text PRIMARY KEY,
    grant_id text NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('access', 'refresh')),
    scopes text NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint,
    successor text,
    repeated_at bigint
  );
  CREATE INDEX oauth_tokens_grant_id ON oauth_tokens (grant_id);
  CREATE INDEX oauth_tokens_expires_at ON oauth_tokens (expires_at);

  CREATE TABLE security_events (
    id bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY,
    at bigint NOT NULL,
    event text NOT NULL,
    account_id text,
    actor_id text,
    via text NOT NULL,
    address text,
    agent text,
    subject_id text,
    subject text,
    amount bigint,
    times bigint NOT NULL
  );
  CREATE INDEX security_events_account_id ON security_events (account_id, id);
  CREATE INDEX security_events_at ON security_events (at);

  CREATE TABLE ephemeral (
    key text PRIMARY KEY,
    value text NOT NULL,
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
`.replaceAll(/(?<=[a-z_]) text\b/g, ' text COLLATE "C"');
