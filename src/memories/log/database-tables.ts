import type { Dialect } from "../../db/database.ts";
import type { ComparedTo, LikenessKind } from "./likenesses/likenesses.ts";

/** The database tables of the log. Some names come from an earlier version. */
export function createLogTables(dialect: Dialect) {
  const { table, index, primaryKey, counter, text, json, integer, boolean, blob } = dialect;

  const entries = table("journal", {
    seq: counter("seq"),
    table: text("account_id").notNull(),
    written: blob("written"),
    /** Ids of memories. Earlier versions wrote ids of rows. */
    removed: json<string[]>("removed").notNull(),
    /** Earlier versions also set this for entries without remains. */
    leavesOldData: boolean("has_remains").notNull(),
    /** When the entry was written, in milliseconds since 1970; `null` for entries of earlier versions. */
    at: integer("at"),
  });

  const heads = table("heads", {
    table: text("name").primaryKey(),
    seq: integer("seq").notNull(),
    memories: integer("memories"),
    bytes: integer("bytes"),
    /** No memory expires earlier; `null` when none expires. */
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
    /** Empty if an earlier version has not recorded it. */
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

/** The database tables of likenesses. Removing a table's head removes its rows. */
export function createLikenessTables({ table, primaryKey, counter, text, json, integer }: Dialect) {
  const likenesses = table(
    "likenesses",
    {
      table: text("name").notNull(),
      later: text("later").notNull(),
      earlier: text("earlier").notNull(),
      kind: text("kind").$type<LikenessKind>().notNull(),
      changedAt: integer("changed_at").notNull(),
    },
    (pair) => [primaryKey({ columns: [pair.table, pair.later, pair.earlier] })],
  );

  const uncompared = table("uncompared", {
    number: counter("number"),
    table: text("name").notNull(),
    ids: json<string[]>("ids").notNull(),
  });

  const comparisons = table("comparisons", {
    table: text("name").primaryKey(),
    position: json<{ comparedTo: ComparedTo }>("position").notNull(),
  });

  return { likenesses, uncompared, comparisons };
}
