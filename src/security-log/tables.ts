import type { Dialect } from "../db/database.ts";
import type { EventOrigin, SecurityEvent } from "./events.ts";

export type SecurityTables = ReturnType<typeof createSecurityTables>;

/** The database table of the security log, created by `db/migrations.sql`. */
export function createSecurityTables({ table, index, counter, text, integer, timestamp }: Dialect) {
  /** One event per row. Triggers remove everything about a removed account except its id. */
  const securityEvents = table(
    "security_events",
    {
      id: counter("id"),
      at: timestamp("at").notNull(),
      event: text("event").$type<SecurityEvent>().notNull(),
      accountId: text("account_id"),
      /** Null for the account's own person, and for the machine's administrator. */
      actorId: text("actor_id"),
      via: text("via").$type<EventOrigin>().notNull(),
      address: text("address"),
      agent: text("agent"),
      subjectId: text("subject_id"),
      subject: text("subject"),
      amount: integer("amount"),
      /** How often it happened within the minute. */
      times: integer("times").notNull(),
    },
    ({ accountId, id, at }) => [
      index("security_events_account_id").on(accountId, id),
      index("security_events_at").on(at),
    ],
  );

  return { securityEvents };
}
