import type { Dialect } from "../db/database.ts";
import type { Change } from "./change.ts";

/** The database table of pending changes, created by `db/migrations.sql`. Removing an account removes its rows. */
export function createUndoTables({ table, index, text, json, timestamp }: Dialect) {
  const pendingChanges = table(
    "waiting_changes",
    {
      id: text("id").primaryKey(),
      accountId: text("account_id").notNull(),
      dueAt: timestamp("due_at").notNull(),
      /** When a server began to apply the change; null while it can be undone. */
      begunAt: timestamp("begun_at"),
      change: json<Change>("change").notNull(),
      /** Who changes the memories of a space; null for an account's own person. */
      personId: text("person_id"),
    },
    ({ accountId, dueAt }) => [
      index("waiting_changes_account_id").on(accountId),
      index("waiting_changes_due_at").on(dueAt),
    ],
  );
  return { pendingChanges };
}
