import type { Dialect } from "../db/database.ts";
import type { Kind } from "./action.ts";

/** The database tables of the activity, created by `db/migrations.sql`. Removing an account removes its rows. */
export function createActivityTables(words: Dialect) {
  const { table, index, primaryKey, counter, text, integer, timestamp } = words;
  /** Counts of actions by day (in UTC), kind, source and agent. `agent` is empty if unknown. */
  const activityDays = table(
    "activity_days",
    {
      accountId: text("account_id").notNull(),
      day: text("day").notNull(),
      kind: text("kind").$type<Kind>().notNull(),
      sourceId: text("source_id").notNull(),
      agent: text("agent").notNull(),
      source: text("source").notNull(),
      times: integer("times").notNull(),
      inVain: integer("in_vain").notNull(),
      memories: integer("memories").notNull(),
      lastAt: timestamp("last_at").notNull(),
    },
    ({ accountId, day, kind, sourceId, agent }) => [
      primaryKey({ columns: [accountId, day, kind, sourceId, agent] }),
    ],
  );

  /** The latest actions. Equal actions within seconds are one row. */
  const activityEvents = table(
    "activity_events",
    {
      id: counter("id"),
      accountId: text("account_id").notNull(),
      at: timestamp("at").notNull(),
      kind: text("kind").$type<Kind>().notNull(),
      sourceId: text("source_id").notNull(),
      source: text("source").notNull(),
      agent: text("agent"),
      times: integer("times").notNull(),
      inVain: integer("in_vain").notNull(),
      memories: integer("memories").notNull(),
      memoryId: text("memory_id"),
      query: text("query"),
    },
    ({ accountId, id }) => [index("activity_events_account_id").on(accountId, id)],
  );

  /** Accounts that keep questions, and since when. */
  const activitySettings = table("activity_settings", {
    accountId: text("account_id").primaryKey(),
    queriesSince: timestamp("queries_since").notNull(),
  });

  return { activityDays, activityEvents, activitySettings };
}
