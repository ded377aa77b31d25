import type { Dialect } from "../db/dialect.ts";
import type { Kind } from "./action.ts";

/** The tables of the activity, made by `db/migrations.ts`. A removed account takes its rows along. */
export function createActivityTables(words: Dialect) {
  const { table, index, primaryKey, counter, text, integer, timestamp } = words;
  /** How often each source and agent did what on a day, in UTC. `agent` is empty where none is known. */
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

  /** What was done last; what is alike within seconds is one row. */
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

  /** Accounts that keep what is asked, and since when. */
  const activitySettings = table("activity_settings", {
    accountId: text("account_id").primaryKey(),
    queriesSince: timestamp("queries_since").notNull(),
  });

  return { activityDays, activityEvents, activitySettings };
}
