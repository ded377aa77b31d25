import type { Database, Orm } from "./database.ts";

/** Milliseconds before a newer `last_used_at` is written. */
const PRECISION_MS = 60_000;

/**
 * Returns a function that updates a `last_used_at`, precise to the minute. It must not delay a request or
 * make it fail. It writes only when that is possible immediately. After a failure (another process writes,
 * the disk is full) it pauses for a minute.
 * @param write sets `last_used_at` of `id` to `now`, in milliseconds since 1970
 */
export function createLastUsedWriter(
  db: Database,
  write: (tx: Orm, id: string, now: number) => Promise<unknown>,
) {
  let pausedUntil = 0;

  return async (id: string, lastUsedAt: Date | null, now: number): Promise<void> => {
    // `abs`: the clock may have been set back.
    if (lastUsedAt !== null && Math.abs(now - lastUsedAt.getTime()) < PRECISION_MS) return;
    if (now < pausedUntil && pausedUntil - now <= PRECISION_MS) return;
    if (!(await db.attempt((tx) => write(tx, id, now)))) pausedUntil = now + PRECISION_MS;
  };
}
