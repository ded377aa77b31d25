import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Who is signed in, in which browser. The table is made by `db/migrations.ts`, with a trigger that
 * ends an account's sessions when its password changes.
 */
export const sessions = sqliteTable("sessions", {
  /** SHA-256 of what the browser's cookie holds, in hex. */
  hash: text().primaryKey(),
  accountId: text("account_id").notNull(),
  createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
  expiresAt: integer("expires_at", { mode: "timestamp_ms" }).notNull(),
});
