import type { Dialect } from "../db/dialect.ts";
import type { Change } from "./change.ts";

/** The table of what waits, made by `db/migrations.ts`. A removed account takes its rows along. */
export function createUndoTables({ table, index, text, json, timestamp }: Dialect) {
  const pendingChanges = table(
    "waiting_changes",
    {
      id: text("id").primaryKey(),
      accountId: text("account_id").notNull(),
      dueAt: timestamp("due_at").notNull(),
      /** Since when somebody carries it out; null as long as it can be undone. */
      begunAt: timestamp("begun_at"),
      change: json<Change>("change").notNull(),
    },
    ({ accountId, dueAt }) => [
      index("waiting_changes_account_id").on(accountId),
      index("waiting_changes_due_at").on(dueAt),
    ],
  );
  return { pendingChanges };
}
