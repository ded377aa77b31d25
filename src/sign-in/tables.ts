import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

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
