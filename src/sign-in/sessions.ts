import { and, eq, gt, lte } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createSecret, hashSecret } from "../db/secret.ts";
import { sessions } from "./tables.ts";

/** How long a session lasts, whether used or not, in milliseconds. */
export const SESSION_LIFETIME = 30 * 24 * 3_600_000;

export type Sessions = ReturnType<typeof createSessions>;

/** The store of sessions. `clock` gives milliseconds since 1970. */
export function createSessions({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const isThis = (secret: string) => eq(sessions.hash, hashSecret(secret));

  return {
    /** Begins a session, and removes those that are over. Returns the secret for the cookie. */
    begin(accountId: string): string {
      const now = clock();
      const secret = createSecret("");
      orm
        .delete(sessions)
        .where(lte(sessions.expiresAt, new Date(now)))
        .run();
      orm
        .insert(sessions)
        .values({
          hash: hashSecret(secret),
          accountId,
          createdAt: new Date(now),
          expiresAt: new Date(now + SESSION_LIFETIME),
        })
        .run();
      return secret;
    },

    /** The account whose session a secret is of; null for an unknown or ended one. */
    findAccount: (secret: string): string | null =>
      orm
        .select({ accountId: sessions.accountId })
        .from(sessions)
        .where(and(isThis(secret), gt(sessions.expiresAt, new Date(clock()))))
        .get()?.accountId ?? null,

    /** Ends a session, if there is one. */
    end: (secret: string): void => void orm.delete(sessions).where(isThis(secret)).run(),
  };
}
