import type { Dialect } from "../db/database.ts";
import { scopesColumn } from "./scopes.ts";

/** The table of API keys, made by `db/migrations.sql`. The key itself is nowhere. */
export function createKeyTables(dialect: Dialect) {
  const { table, text, boolean, timestamp } = dialect;

  const apiKeys = table("api_keys", {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    /** SHA-256 of the key, in hex; of a bound key in its bound form. */
    hash: text("hash").notNull().unique(),
    /** The key's first eight characters, by which its holder knows it again. */
    prefix: text("prefix").notNull(),
    name: text("name").notNull(),
    scopes: scopesColumn(dialect, "scopes").notNull(),
    createdAt: timestamp("created_at").notNull(),
    /** To the minute. */
    lastUsedAt: timestamp("last_used_at"),
    expiresAt: timestamp("expires_at"),
    revokedAt: timestamp("revoked_at"),
    /** What it is bound to; see `toBound`. */
    project: text("project"),
    projectOnly: boolean("project_only").notNull().default(false),
    /** While it is paused, its requests are refused. */
    pausedAt: timestamp("paused_at"),
    /** The only space that it reaches; null for a key of the person. */
    spaceId: text("space_id"),
  });

  return { apiKeys };
}
