import type { Dialect } from "../db/dialect.ts";
import type { SecurityEvent, Way } from "./events.ts";

export type SecurityTables = ReturnType<typeof createSecurityTables>;

/** The table of the security log, made by `db/migrations.ts`. */
export function createSecurityTables({ table, index, counter, text, integer, timestamp }: Dialect) {
  /** What has happened, an event a row. Triggers leave nothing of a removed account but its id. */
  const securityEvents = table(
    "security_events",
    {
      id: counter("id"),
      at: timestamp("at").notNull(),
      event: text("event").$type<SecurityEvent>().notNull(),
      accountId: text("account_id"),
      /** Null where it is the account's own person, or the machine's administrator. */
      actorId: text("actor_id"),
      via: text("via").$type<Way>().notNull(),
      address: text("address"),
      agent: text("agent"),
      subjectId: text("subject_id"),
      subject: text("subject"),
      amount: integer("amount"),
      /** How often it happened within a minute. */
      times: integer("times").notNull(),
    },
    ({ accountId, id, at }) => [
      index("security_events_account_id").on(accountId, id),
      index("security_events_at").on(at),
    ],
  );

  return { securityEvents };
}
