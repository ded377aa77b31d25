import { eq, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { apiKeys } from "./tables.ts";

/** How old `last_used_at` may grow before it is written again, in milliseconds. */
const PRECISION = 60_000;

/**
 * Makes the function that keeps a key's `last_used_at` to the minute. The mark is not worth a failed
 * or a slow request: it is made only if that is possible at once, and after a failure (another
 * process is writing, the disk is full) not tried again for a minute.
 */
export function createUseMark(db: Database) {
  const statement = db.orm
    .update(apiKeys)
    .set({ lastUsedAt: sql`${sql.placeholder("now")}` })
    .where(eq(apiKeys.id, sql.placeholder("id")))
    .prepare();
  let pausedUntil = 0;

  return (id: string, lastUsedAt: Date | null, now: number): void => {
    if (lastUsedAt !== null && now - lastUsedAt.getTime() < PRECISION) return;
    if (now < pausedUntil) return;
    const marked = db.attempt(() => {
      statement.run({ id, now });
    });
    if (!marked) pausedUntil = now + PRECISION;
  };
}
