import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Who may own memories. The table is made by `db/migrations.ts`. */
export const accounts = sqliteTable("accounts", {
  id: text().primaryKey(),
  /** Lower case. */
  email: text().notNull().unique(),
  /** argon2id in PHC format; null for an account that never signs in with a password. */
  passwordHash: text("password_hash"),
  /** The owner administers the server; it is the first account. */
  role: text({ enum: ["owner", "member"] }).notNull(),
  createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
  /** Since when nobody can use it; null for an account that can be used. */
  disabledAt: integer("disabled_at", { mode: "timestamp_ms" }),
});

/** The columns of an account that are no secret. */
export const ACCOUNT = {
  id: accounts.id,
  email: accounts.email,
  role: accounts.role,
  createdAt: accounts.createdAt,
  disabledAt: accounts.disabledAt,
};

/** Accounts that are gone and whose memories are still to be removed, by the server that holds them. */
export const removedAccounts = sqliteTable("removed_accounts", {
  id: text().primaryKey(),
});

/** Links by which somebody may make an account, as long as they are neither used nor expired. */
export const invitations = sqliteTable("invitations", {
  id: text().primaryKey(),
  /** SHA-256 of the link's secret, in hex. */
  hash: text().notNull().unique(),
  /** The address that the account gets; null where its person chooses. */
  email: text(),
  createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
  expiresAt: integer("expires_at", { mode: "timestamp_ms" }).notNull(),
});

/** What accounts may keep, of those for which that is limited. */
export const quotas = sqliteTable("quotas", {
  accountId: text("account_id").primaryKey(),
  /** How many memories; null for any number. */
  memories: integer(),
  /** Bytes of all their text; null for any. */
  bytes: integer(),
});
