import type { Database, Orm } from "./database.ts";

/** How old a mark may grow before it is written again, in milliseconds. */
const PRECISION = 60_000;

/**
 * Makes the function that keeps a `last_used_at` to the minute. The mark is not worth a failed or a
 * slow request: it is made only if that is possible at once, and after a failure (another process
 * is writing, the disk is full) not tried again for a minute.
 * @param write sets the mark of `id` to `now`, in milliseconds since 1970
 */
export function createLastUsedWriter(
  db: Database,
  write: (tx: Orm, id: string, now: number) => Promise<unknown>,
) {
  let pausedUntil = 0;

  return async (id: string, lastUsedAt: Date | null, now: number): Promise<void> => {
    // The clock may have been set back since.
    if (lastUsedAt !== null && Math.abs(now - lastUsedAt.getTime()) < PRECISION) return;
    if (now < pausedUntil && pausedUntil - now <= PRECISION) return;
    if (!(await db.attempt((tx) => write(tx, id, now)))) pausedUntil = now + PRECISION;
  };
}
