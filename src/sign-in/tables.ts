import type { Dialect } from "../db/dialect.ts";

/** The tables of signing in, in the words of a database. They are made by `db/migrations.ts`. */
export function createSignInTables(dialect: Dialect) {
  const { table, primaryKey, text, integer, real, blob, timestamp } = dialect;

  /** Who is signed in, in which browser. A trigger ends an account's sessions with its password. */
  const sessions = table("sessions", {
    /** SHA-256 of what the browser's cookie holds, in hex. */
    hash: text("hash").primaryKey(),
    accountId: text("account_id").notNull(),
    createdAt: timestamp("created_at").notNull(),
    expiresAt: timestamp("expires_at").notNull(),
    /** As it calls itself (`User-Agent`). */
    browser: text("browser").notNull(),
    /** To the minute. */
    lastUsedAt: timestamp("last_used_at"),
    /** When its person last proved who they are; null for one begun by a program that did not note it. */
    provedAt: timestamp("proved_at"),
  });

  /** What the server signs with, by what that is for. */
  const serverSecrets = table("server_secrets", {
    name: text("name").primaryKey(),
    value: text("value").notNull(),
  });

  /** By whom else a person can be known: the providers through which they sign in. */
  const identities = table(
    "identities",
    {
      issuer: text("issuer").notNull(),
      /** What the issuer calls the person, for good. */
      subject: text("subject").notNull(),
      accountId: text("account_id").notNull(),
      createdAt: timestamp("created_at").notNull(),
    },
    ({ issuer, subject }) => [primaryKey({ columns: [issuer, subject] })],
  );

  /** The public halves of what a person's devices sign in with (WebAuthn credentials). */
  const passkeys = table("passkeys", {
    /** The credential's id, in base64url. */
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    /** In COSE. */
    publicKey: blob("public_key").notNull(),
    /** How often the device says that it was used; 0 for ones that do not count. */
    counter: integer("counter").notNull(),
    /** How a browser can reach it, as it said; separated by spaces. */
    transports: text("transports").notNull(),
    name: text("name").notNull(),
    createdAt: timestamp("created_at").notNull(),
    lastUsedAt: timestamp("last_used_at"),
  });

  /** What one-time codes are computed from (RFC 6238). It can't be hashed: the server computes them too. */
  const oneTimeCodes = table("one_time_codes", {
    accountId: text("account_id").primaryKey(),
    secret: blob("secret").notNull(),
    /** When a first code has shown that the person's app has it; null until then. */
    confirmedAt: timestamp("confirmed_at"),
    /** The last step whose code was taken: neither it nor an earlier one is taken again. */
    lastStep: integer("last_step").notNull(),
    /** Wrong codes that still count at `failedAt`, and fade from then on. */
    failures: real("failures").notNull(),
    failedAt: timestamp("failed_at").notNull(),
  });

  /** Codes for who has lost the second factor, as long as they are not used. */
  const recoveryCodes = table(
    "recovery_codes",
    {
      accountId: text("account_id").notNull(),
      /** SHA-256 of account and code, in hex. */
      hash: text("hash").notNull(),
    },
    ({ accountId, hash }) => [primaryKey({ columns: [accountId, hash] })],
  );

  /**
   * Who has shown the first factor and not yet the second. A trigger ends them with the password, and
   * when the account is disabled.
   */
  const pendingSignIns = table("pending_sign_ins", {
    /** SHA-256 of what the browser's cookie holds, in hex. */
    hash: text("hash").primaryKey(),
    accountId: text("account_id").notNull(),
    /** Where to go on, a path of ours. */
    next: text("next"),
    triesLeft: integer("tries_left").notNull(),
    expiresAt: timestamp("expires_at").notNull(),
  });

  /** What a browser was told to have a passkey sign. */
  const passkeyChallenges = table("passkey_challenges", {
    /** SHA-256 of what the browser's cookie holds, and of what the signature is for, in hex. */
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
