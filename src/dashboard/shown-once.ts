import type { Ephemeral } from "../db/ephemeral.ts";

/** How long a secret waits for the page that shows it, in milliseconds. */
const LIFETIME = 60_000;

export type ShownOnce = ReturnType<typeof createShownOnce>;

/**
 * Secrets on their way to the page that follows a form: for the session that made them, and given out
 * one time.
 */
export function createShownOnce({ ephemeral }: { ephemeral: Pick<Ephemeral, "put" | "take"> }) {
  const nameOf = (session: string, id: string) => `shown once ${session} ${id}`;

  return {
    put: (session: string, id: string, secret: string): Promise<void> =>
      ephemeral.put(nameOf(session, id), secret, LIFETIME),

    /** The secret; null when it has been taken before, or is not there any more. */
    take: (session: string, id: string): Promise<string | null> =>
      ephemeral.take(nameOf(session, id)),
  };
}
