import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { SecurityEvent, Way } from "./events.ts";

/**
 * What has happened, an event a row. Made by `db/migrations.ts`; triggers there leave nothing of a
 * removed account but its id.
 */
export const securityEvents = sqliteTable(
  "security_events",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    at: integer({ mode: "timestamp_ms" }).notNull(),
    event: text().$type<SecurityEvent>().notNull(),
    accountId: text("account_id"),
    /** Null where it is the account's own person, or the machine's administrator. */
    actorId: text("actor_id"),
    via: text().$type<Way>().notNull(),
    address: text(),
    agent: text(),
    subjectId: text("subject_id"),
    subject: text(),
    amount: integer(),
    /** How often it happened within a minute. */
    times: integer().notNull(),
  },
  ({ accountId, id, at }) => [
    index("security_events_account_id").on(accountId, id),
    index("security_events_at").on(at),
  ],
);
