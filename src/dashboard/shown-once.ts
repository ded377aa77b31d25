import type { Ephemeral } from "../db/ephemeral.ts";

/** Milliseconds for which a secret is kept for the next page. */
const LIFETIME_MS = 60_000;

export type ShownOnce = ReturnType<typeof createShownOnce>;

/**
 * Passes a new secret, such as an API key, from a form to the page after it. Only the same session can take it, and
 * only once.
 */
export function createShownOnce({ ephemeral }: { ephemeral: Pick<Ephemeral, "put" | "take"> }) {
  const nameOf = (session: string, id: string) => `shown once ${session} ${id}`;

  return {
    put: (session: string, id: string, secret: string): Promise<void> =>
      ephemeral.put(nameOf(session, id), secret, LIFETIME_MS),

    /** Takes the secret; null if it was taken before or has expired. */
    take: (session: string, id: string): Promise<string | null> =>
      ephemeral.take(nameOf(session, id)),
  };
}
