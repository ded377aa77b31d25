import { and, eq, gt, lte, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createSecret, hashSecret } from "../db/secret.ts";
import { pendingSignIns } from "./tables.ts";

/** How long a person has for the second step, in milliseconds. */
export const PENDING_LIFETIME = 10 * 60_000;
/** Wrong answers after which the first step is asked for again. */
const TRIES = 5;

/** A sign-in whose first step is done. */
export interface PendingSignIn {
  readonly accountId: string;
  /** Where to go on, a path of ours. */
  readonly next: string | null;
  /** How many answers are taken from now on. */
  readonly triesLeft: number;
}

const PENDING = {
  accountId: pendingSignIns.accountId,
  next: pendingSignIns.next,
  triesLeft: pendingSignIns.triesLeft,
};

export type PendingSignIns = ReturnType<typeof createPendingSignIns>;

/**
 * The store of sign-ins that wait for their second step, each known by a secret in a cookie of the
 * browser that began it. `clock` gives milliseconds since 1970.
 */
export function createPendingSignIns({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const isThis = (secret: string) =>
    and(
      eq(pendingSignIns.hash, hashSecret(secret)),
      gt(pendingSignIns.expiresAt, new Date(clock())),
    );

  const hasTry = gt(pendingSignIns.triesLeft, 0);

  return {
    /** Begins one, and removes those that are over. Returns the secret for the cookie. */
    begin(accountId: string, next: string | null): string {
      const now = clock();
      const secret = createSecret("");
      const isOver = lte(pendingSignIns.expiresAt, new Date(now));
      orm.delete(pendingSignIns).where(isOver).run();
      const expiresAt = new Date(now + PENDING_LIFETIME);
      const row = { hash: hashSecret(secret), accountId, next, triesLeft: TRIES, expiresAt };
      orm.insert(pendingSignIns).values(row).run();
      return secret;
    },

    /** The sign-in with a secret; null for one that is over. */
    find: (secret: string): PendingSignIn | null =>
      orm
        .select(PENDING)
        .from(pendingSignIns)
        .where(and(isThis(secret), hasTry))
        .get() ?? null,

    /** Takes a try of the sign-in, before the answer is looked at; null when it has none left. */
    take: (secret: string): PendingSignIn | null =>
      orm
        .update(pendingSignIns)
        .set({ triesLeft: sql`${pendingSignIns.triesLeft} - 1` })
        .where(and(isThis(secret), hasTry))
        .returning(PENDING)
        .get() ?? null,

    /** Ends a sign-in. Returns whether it was there: of two answers at once one ends it. */
    end: (secret: string): boolean =>
      orm
        .delete(pendingSignIns)
        .where(isThis(secret))
        .returning({ hash: pendingSignIns.hash })
        .get() !== undefined,

    /** Ends all sign-ins of an account that wait for their second step. */
    endAll: (accountId: string): void =>
      void orm.delete(pendingSignIns).where(eq(pendingSignIns.accountId, accountId)).run(),
  };
}
