import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { scopesColumn } from "./scopes-column.ts";

/** API keys; the key itself is nowhere. The table is made by `db/migrations.ts`. */
export const apiKeys = sqliteTable("api_keys", {
  id: text().primaryKey(),
  accountId: text("account_id").notNull(),
  /** SHA-256 of the key, in hex. */
  hash: text().notNull().unique(),
  /** The key's first eight characters, by which its holder knows it again. */
  prefix: text().notNull(),
  name: text().notNull(),
  scopes: scopesColumn().notNull(),
  createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
  /** To the minute. */
  lastUsedAt: integer("last_used_at", { mode: "timestamp_ms" }),
  expiresAt: integer("expires_at", { mode: "timestamp_ms" }),
  revokedAt: integer("revoked_at", { mode: "timestamp_ms" }),
});
