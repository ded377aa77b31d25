import { LRUCache } from "lru-cache";

/** How long a secret waits for the page that shows it, in milliseconds. */
const LIFETIME = 60_000;
const MAX_WAITING = 1_000;

export type ShownOnce = ReturnType<typeof createShownOnce>;

/**
 * Secrets on their way to the page that follows a form: in memory alone, for the session that made
 * them, and given out one time.
 */
export function createShownOnce() {
  const waiting = new LRUCache<string, string>({ max: MAX_WAITING, ttl: LIFETIME });
  const slot = (session: string, id: string) => `${session} ${id}`;

  return {
    put: (session: string, id: string, secret: string): void =>
      void waiting.set(slot(session, id), secret),

    /** The secret; null when it has been taken before, or is not there any more. */
    take(session: string, id: string): string | null {
      const secret = waiting.get(slot(session, id)) ?? null;
      waiting.delete(slot(session, id));
      return secret;
    },
  };
}
