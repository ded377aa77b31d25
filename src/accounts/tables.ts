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
});

/** Accounts that are gone and whose memories are still to be removed, by the server that holds them. */
export const removedAccounts = sqliteTable("removed_accounts", {
  id: text().primaryKey(),
});
