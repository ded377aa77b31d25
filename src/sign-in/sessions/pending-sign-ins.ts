import { and, eq, gt, lte, sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { createSecret, hashSecret } from "../../db/id.ts";
import { createSignInTables } from "../tables.ts";
import { createConditionsCheck, type SessionConditions } from "./sessions.ts";

/** Milliseconds that a person has for the second step. */
export const PENDING_LIFETIME = 10 * 60_000;
/** Wrong answers after which the first step must be repeated. */
const TRIES = 5;

/** A sign-in whose first step is done. */
export interface PendingSignIn {
  readonly accountId: string;
  /** The path on this server to redirect to. */
  readonly next: string | null;
  /** Remaining tries. */
  readonly triesLeft: number;
}

export type PendingSignIns = ReturnType<typeof createPendingSignIns>;

/**
 * The store of sign-ins whose second step is due. A cookie of the browser has the secret of each.
 * `clock` gives milliseconds since 1970.
 */
export function createPendingSignIns({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const { pendingSignIns } = db.tables(createSignInTables);
  const checkConditions = createConditionsCheck({ db, clock });
  const PENDING = {
    accountId: pendingSignIns.accountId,
    next: pendingSignIns.next,
    triesLeft: pendingSignIns.triesLeft,
  };
  const isThis = (secret: string) =>
    and(
      eq(pendingSignIns.hash, hashSecret(secret)),
      gt(pendingSignIns.expiresAt, new Date(clock())),
    );

  const hasTry = gt(pendingSignIns.triesLeft, 0);

  return {
    /**
     * Begins a sign-in, and removes expired ones. Returns the secret for the cookie.
     * @param conditions conditions of the first step
     * @throws AppError `forbidden` when the account is disabled, or a condition no longer holds
     */
    async begin(
      accountId: string,
      next: string | null,
      conditions: SessionConditions = {},
    ): Promise<string> {
      const now = clock();
      const secret = createSecret("");
      const isOver = lte(pendingSignIns.expiresAt, new Date(now));
      await orm.delete(pendingSignIns).where(isOver);
      const expiresAt = new Date(now + PENDING_LIFETIME);
      const row = { hash: hashSecret(secret), accountId, next, triesLeft: TRIES, expiresAt };
      await db.transaction(async (tx) => {
        await checkConditions(tx, accountId, conditions);
        await tx.insert(pendingSignIns).values(row);
      });
      return secret;
    },

    /** The sign-in with a secret; null for an expired or ended one. */
    async find(secret: string): Promise<PendingSignIn | null> {
      const pending = orm.select(PENDING).from(pendingSignIns);
      const [found = null] = await pending.where(and(isThis(secret), hasTry));
      return found;
    },

    /** Takes a try before the answer is checked; null if none is left. */
    async take(secret: string): Promise<PendingSignIn | null> {
      const [taken = null] = await orm
        .update(pendingSignIns)
        .set({ triesLeft: sql`${pendingSignIns.triesLeft} - 1` })
        .where(and(isThis(secret), hasTry))
        .returning(PENDING);
      return taken;
    },

    /** Ends a sign-in, if there is one. */
    async end(secret: string): Promise<void> {
      await orm.delete(pendingSignIns).where(isThis(secret));
    },

    /** Ends all pending sign-ins of an account. */
    async endAll(accountId: string): Promise<void> {
      await orm.delete(pendingSignIns).where(eq(pendingSignIns.accountId, accountId));
    },
  };
}
