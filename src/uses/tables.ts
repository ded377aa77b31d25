import type { Dialect } from "../db/database.ts";

/**
 * The database tables of the uses of memories, created by `db/migrations.sql`. Removing a memory or an account removes its
 * rows.
 */
export function createUseTables({ table, primaryKey, text, integer, timestamp }: Dialect) {
  /** Each memory that was found, recalled or used. `sourceId` and `agent` wrote it; they are empty if unknown. */
  const memoryUses = table(
    "memory_uses",
    {
      accountId: text("account_id").notNull(),
      memoryId: text("memory_id").notNull(),
      sourceId: text("source_id").notNull(),
      agent: text("agent").notNull(),
      /** When the memory was created. All times are in milliseconds since 1970. */
      createdAt: integer("created_at").notNull(),
      /** Times in a search's answer, times recalled, and times opened after it was found, changed or superseded. */
      found: integer("found").notNull(),
      recalled: integer("recalled").notNull(),
      used: integer("used").notNull(),
      foundAt: integer("found_at"),
      recalledAt: integer("recalled_at"),
      usedAt: integer("used_at"),
    },
    ({ accountId, memoryId }) => [primaryKey({ columns: [accountId, memoryId] })],
  );

  /** When an account began to count; null if it counts none. Accounts without a row count since they exist. */
  const useSettings = table("use_settings", {
    accountId: text("account_id").primaryKey(),
    since: timestamp("since"),
  });

  return { memoryUses, useSettings };
}
