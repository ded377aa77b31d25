import type { Dialect } from "../db/database.ts";

/** The database tables of sign-in, created by `db/migrations.sql`. */
export function createSignInTables(dialect: Dialect) {
  const { table, primaryKey, text, integer, real, blob, timestamp } = dialect;

  /** Sessions. A trigger ends those of an account when its password changes. */
  const sessions = table("sessions", {
    /** SHA-256 of what the browser's cookie holds, in hex. */
    hash: text("hash").primaryKey(),
    accountId: text("account_id").notNull(),
    createdAt: timestamp("created_at").notNull(),
    expiresAt: timestamp("expires_at").notNull(),
    /** The name that it gives itself (`User-Agent`). */
    browser: text("browser").notNull(),
    /** To the minute. */
    lastUsedAt: timestamp("last_used_at"),
    /** When its person last gave a proof; null for sessions of a version that did not record it. */
    provedAt: timestamp("proved_at"),
  });

  /** Secrets of the server, by purpose. */
  const serverSecrets = table("server_secrets", {
    name: text("name").primaryKey(),
    value: text("value").notNull(),
  });

  /** Identities of people at their providers. */
  const identities = table(
    "identities",
    {
      issuer: text("issuer").notNull(),
      /** The issuer's permanent id of the person. */
      subject: text("subject").notNull(),
      accountId: text("account_id").notNull(),
      createdAt: timestamp("created_at").notNull(),
    },
    ({ issuer, subject }) => [primaryKey({ columns: [issuer, subject] })],
  );

  /** Public keys of people's passkeys (WebAuthn credentials). */
  const passkeys = table("passkeys", {
    /** The credential's id, in base64url. */
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    /** In COSE. */
    publicKey: blob("public_key").notNull(),
    /** The device's count of uses; 0 for devices that do not count. */
    counter: integer("counter").notNull(),
    /** The transports that the browser named, separated by spaces. */
    transports: text("transports").notNull(),
    name: text("name").notNull(),
    createdAt: timestamp("created_at").notNull(),
    lastUsedAt: timestamp("last_used_at"),
  });

  /** Secrets of one-time codes (RFC 6238). They can't be hashed, because the server computes codes too. */
  const oneTimeCodes = table("one_time_codes", {
    accountId: text("account_id").primaryKey(),
    secret: blob("secret").notNull(),
    /** When the first code was checked; null until then. */
    confirmedAt: timestamp("confirmed_at"),
    /** The last step whose code was used: codes up to it are refused. */
    lastStep: integer("last_step").notNull(),
    /** Wrong codes that count at `failedAt`. They count less over time. */
    failures: real("failures").notNull(),
    failedAt: timestamp("failed_at").notNull(),
  });

  const recoveryCodes = table(
    "recovery_codes",
    {
      accountId: text("account_id").notNull(),
      /** SHA-256 of account and code, in hex. */
      hash: text("hash").notNull(),
    },
    ({ accountId, hash }) => [primaryKey({ columns: [accountId, hash] })],
  );

  /** Sign-ins whose second step is due. Triggers end them when the password changes or the account is disabled. */
  const pendingSignIns = table("pending_sign_ins", {
    /** SHA-256 of what the browser's cookie holds, in hex. */
    hash: text("hash").primaryKey(),
    accountId: text("account_id").notNull(),
    /** The path on this server to redirect to. */
    next: text("next"),
    triesLeft: integer("tries_left").notNull(),
    expiresAt: timestamp("expires_at").notNull(),
  });

  const passkeyChallenges = table("passkey_challenges", {
    /** SHA-256 of the browser's cookie and the purpose of the signature, in hex. */
    hash: text("hash").primaryKey(),
    challenge: text("challenge").notNull(),
    expiresAt: timestamp("expires_at").notNull(),
  });

  return {
    sessions,
    serverSecrets,
    identities,
    passkeys,
    oneTimeCodes,
    recoveryCodes,
    pendingSignIns,
    passkeyChallenges,
  };
}
