import type { Dialect } from "../../db/dialect.ts";

/** The tables of the log, in the words of a database. Some have names from an earlier version. */
export function createLogTables(dialect: Dialect) {
  const { table, index, primaryKey, counter, text, json, integer, boolean, blob } = dialect;

  const entries = table("journal", {
    seq: counter("seq"),
    table: text("account_id").notNull(),
    written: blob("written"),
    /** Ids of memories; of an earlier version, of rows. */
    removed: json<string[]>("removed").notNull(),
    /** Of an earlier version, also where nothing remains. */
    hasRemains: boolean("has_remains").notNull(),
    /** When it was written, in milliseconds since 1970; `null` of an earlier version. */
    at: integer("at"),
  });

  const heads = table("heads", {
    table: text("name").primaryKey(),
    seq: integer("seq").notNull(),
    memories: integer("memories"),
    bytes: integer("bytes"),
    /** No memory expires before; `null` where none does. */
    expiresAt: integer("expires_at"),
  });

  const checkpoints = table("checkpoints", {
    table: text("account_id").primaryKey(),
    version: integer("version").notNull(),
    files: json<string[]>("files").notNull(),
    base: text("base").notNull(),
    upTo: integer("up_to").notNull(),
  });

  const currentTables = table("tables", {
    accountId: text("account_id").primaryKey(),
    name: text("name").notNull(),
    /** Empty where an earlier version has not recorded it. */
    model: text("model").notNull(),
  });

  const answers = table(
    "idempotency_keys",
    {
      accountId: text("account_id").notNull(),
      keyHash: text("key_hash").notNull(),
      requestHash: text("request_hash").notNull(),
      memoryIds: json<string[]>("memory_ids").notNull(),
      createdAt: integer("created_at").notNull(),
    },
    (answer) => [
      primaryKey({ columns: [answer.accountId, answer.keyHash] }),
      index("idempotency_keys_created_at").on(answer.createdAt),
    ],
  );

  return { entries, heads, checkpoints, currentTables, answers };
}
