import { blob, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

// The tables of this file are made by `db/migrations.ts`.

/** Who is signed in, in which browser. A trigger ends an account's sessions with its password. */
export const sessions = sqliteTable("sessions", {
  /** SHA-256 of what the browser's cookie holds, in hex. */
  hash: text().primaryKey(),
  accountId: text("account_id").notNull(),
  createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
  expiresAt: integer("expires_at", { mode: "timestamp_ms" }).notNull(),
  /** As it calls itself (`User-Agent`). */
  browser: text().notNull(),
  /** To the minute. */
  lastUsedAt: integer("last_used_at", { mode: "timestamp_ms" }),
  /** When its person last proved who they are; null for one begun by a program that did not note it. */
  provedAt: integer("proved_at", { mode: "timestamp_ms" }),
});

/** What the server signs with, by what that is for. */
export const serverSecrets = sqliteTable("server_secrets", {
  name: text().primaryKey(),
  value: text().notNull(),
});

/** By whom else a person can be known: the providers through which they sign in. */
export const identities = sqliteTable(
  "identities",
  {
    issuer: text().notNull(),
    /** What the issuer calls the person, for good. */
    subject: text().notNull(),
    accountId: text("account_id").notNull(),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
  },
  ({ issuer, subject }) => [primaryKey({ columns: [issuer, subject] })],
);

/** The public halves of what a person's devices sign in with (WebAuthn credentials). */
export const passkeys = sqliteTable("passkeys", {
  /** The credential's id, in base64url. */
  id: text().primaryKey(),
  accountId: text("account_id").notNull(),
  /** In COSE. */
  publicKey: blob("public_key", { mode: "buffer" }).notNull(),
  /** How often the device says that it was used; 0 for ones that do not count. */
  counter: integer().notNull(),
  /** How a browser can reach it, as it said; separated by spaces. */
  transports: text().notNull(),
  name: text().notNull(),
  createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
  lastUsedAt: integer("last_used_at", { mode: "timestamp_ms" }),
});

/** What one-time codes are computed from (RFC 6238). It can't be hashed: the server computes them too. */
export const oneTimeCodes = sqliteTable("one_time_codes", {
  accountId: text("account_id").primaryKey(),
  secret: blob({ mode: "buffer" }).notNull(),
  /** When a first code has shown that the person's app has it; null until then. */
  confirmedAt: integer("confirmed_at", { mode: "timestamp_ms" }),
  /** The last step whose code was taken: neither it nor an earlier one is taken again. */
  lastStep: integer("last_step").notNull(),
  /** Wrong codes that still count at `failedAt`, and fade from then on. */
  failures: real().notNull(),
  failedAt: integer("failed_at", { mode: "timestamp_ms" }).notNull(),
});

/** Codes for who has lost the second factor, as long as they are not used. */
export const recoveryCodes = sqliteTable(
  "recovery_codes",
  {
    accountId: text("account_id").notNull(),
    /** SHA-256 of account and code, in hex. */
    hash: text().notNull(),
  },
  ({ accountId, hash }) => [primaryKey({ columns: [accountId, hash] })],
);

/**
 * Who has shown the first factor and not yet the second. A trigger ends them with the password, and
 * when the account is disabled.
 */
export const pendingSignIns = sqliteTable("pending_sign_ins", {
  /** SHA-256 of what the browser's cookie holds, in hex. */
  hash: text().primaryKey(),
  accountId: text("account_id").notNull(),
  /** Where to go on, a path of ours. */
  next: text(),
  triesLeft: integer("tries_left").notNull(),
  expiresAt: integer("expires_at", { mode: "timestamp_ms" }).notNull(),
});

/** What a browser was told to have a passkey sign. */
export const passkeyChallenges = sqliteTable("passkey_challenges", {
  /** SHA-256 of what the browser's cookie holds, and of what the signature is for, in hex. */
  hash: text().primaryKey(),
  challenge: text().notNull(),
  expiresAt: integer("expires_at", { mode: "timestamp_ms" }).notNull(),
});
