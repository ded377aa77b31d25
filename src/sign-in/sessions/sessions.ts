import { and, between, desc, eq, gt, lte, not, type SQL } from "drizzle-orm";
import { createAccountCheck } from "../../accounts/accounts.ts";
import { createLastUsedWriter, type Orm, type StoreParts } from "../../db/database.ts";
import { createSecret, hashSecret } from "../../db/id.ts";
import { AppError } from "../../errors.ts";
import { createSignInTables } from "../tables.ts";

/** Conditions of a sign-in, which may end before a session begins. */
export interface SessionConditions {
  /** The mark of the password that was used or set; null for none. */
  readonly passwordMark?: string | null | undefined;
  /** The secret of the pending sign-in whose second step was done. It is used up. */
  readonly pending?: string | undefined;
}

/**
 * Creates a check of these conditions, for the transaction that begins a session.
 * @returns a function that throws AppError `forbidden` when the account is disabled, or a condition no longer holds
 */
export function createConditionsCheck({ db, clock }: StoreParts) {
  const checkAccount = createAccountCheck(db);
  const { pendingSignIns } = db.tables(createSignInTables);

  return async (
    tx: Orm,
    accountId: string,
    { passwordMark, pending }: SessionConditions,
  ): Promise<void> => {
    await checkAccount(tx, accountId, passwordMark);
    if (pending === undefined) return;
    const isThis = and(
      eq(pendingSignIns.hash, hashSecret(pending)),
      gt(pendingSignIns.expiresAt, new Date(clock())),
    );
    const { hash } = pendingSignIns;
    const used = await tx.delete(pendingSignIns).where(isThis).returning({ hash });
    if (used.length === 0) throw signInOver();
  };
}

/** The error for a sign-in that has expired, was used up or was ended. */
export function signInOver(): AppError {
  return new AppError("forbidden", "This sign-in is over: sign in again.");
}

/** Milliseconds for which a session lasts, whether used or not. */
export const SESSION_LIFETIME = 30 * 24 * 3_600_000;

/** Milliseconds for which a proof counts as fresh. */
const PROOF_LIFETIME = 10 * 60_000;

/** Characters that are stored of a browser's name for itself. */
const MAX_BROWSER = 300;

export type Sessions = ReturnType<typeof createSessions>;

/** A session without its secret. Its id reveals nothing about it. */
export type SessionRecord = Awaited<ReturnType<Sessions["list"]>>[number];

/** The store of sessions. */
export function createSessions({ db, clock }: StoreParts) {
  const { orm } = db;
  const { sessions } = db.tables(createSignInTables);
  const checkConditions = createConditionsCheck({ db, clock });
  const byHash = (secret: string) => eq(sessions.hash, hashSecret(secret));
  const isOf = (accountId: string) => eq(sessions.accountId, accountId);
  /** Ends sessions. Returns how many. */
  const endWhere = async (condition: SQL | undefined): Promise<number> =>
    (await orm.delete(sessions).where(condition).returning({ id: sessions.hash })).length;
  const isAlive = () => gt(sessions.expiresAt, new Date(clock()));
  const markUsed = createLastUsedWriter(db, (tx, id, now) =>
    tx
      .update(sessions)
      .set({ lastUsedAt: new Date(now) })
      .where(eq(sessions.hash, id)),
  );

  return {
    /**
     * Begins a session of a person who has just signed in, and removes expired sessions. Returns the
     * secret for the cookie.
     * @param browser the name that it gives itself
     * @param conditions conditions of the sign-in
     * @throws AppError `forbidden` when the account is disabled, or a condition no longer holds
     */
    async begin(
      accountId: string,
      browser = "",
      conditions: SessionConditions = {},
    ): Promise<string> {
      const now = clock();
      const secret = createSecret("");
      await orm.delete(sessions).where(lte(sessions.expiresAt, new Date(now)));
      await db.transaction(async (tx) => {
        await checkConditions(tx, accountId, conditions);
        await tx.insert(sessions).values({
          hash: hashSecret(secret),
          accountId,
          browser: browser.slice(0, MAX_BROWSER),
          createdAt: new Date(now),
          expiresAt: new Date(now + SESSION_LIFETIME),
          provedAt: new Date(now),
        });
      });
      return secret;
    },

    /** The account of the session with a secret; null for an unknown or ended session. */
    async findAccount(secret: string): Promise<string | null> {
      const [row] = await orm
        .select({
          id: sessions.hash,
          accountId: sessions.accountId,
          lastUsedAt: sessions.lastUsedAt,
        })
        .from(sessions)
        .where(and(byHash(secret), isAlive()));
      if (!row) return null;
      await markUsed(row.id, row.lastUsedAt, clock());
      return row.accountId;
    },

    /** Whether its person gave a proof recently. Stolen sessions are mostly old. */
    async isProved(secret: string): Promise<boolean> {
      const now = clock();
      // A clock that was set back must not extend it.
      const isFresh = between(sessions.provedAt, new Date(now - PROOF_LIFETIME), new Date(now));
      const [session] = await orm
        .select({ id: sessions.hash })
        .from(sessions)
        .where(and(byHash(secret), isAlive(), isFresh));
      return session !== undefined;
    },

    /** Records that the person of a session gave a proof. */
    async prove(secret: string): Promise<void> {
      await orm
        .update(sessions)
        .set({ provedAt: new Date(clock()) })
        .where(byHash(secret));
    },

    /** The account's sessions, newest first. */
    list: async (accountId: string) =>
      await orm
        .select({
          id: sessions.hash,
          browser: sessions.browser,
          createdAt: sessions.createdAt,
          lastUsedAt: sessions.lastUsedAt,
        })
        .from(sessions)
        .where(and(isOf(accountId), isAlive()))
        .orderBy(desc(sessions.createdAt), desc(sessions.hash)),

    /** The `id` in `list` of the session with a secret. */
    idOf: hashSecret,

    /**
     * Ends one of an account's sessions.
     * @throws AppError `not_found` when the account has no such session
     */
    async revoke(accountId: string, id: string): Promise<void> {
      if ((await endWhere(and(isOf(accountId), eq(sessions.hash, id)))) > 0) return;
      throw new AppError("not_found", "This session has already ended.");
    },

    /** Ends all of an account's sessions, except the one with the secret `kept`. Returns how many. */
    revokeAll: (accountId: string, kept?: string): Promise<number> =>
      endWhere(and(isOf(accountId), kept === undefined ? undefined : not(byHash(kept)))),

    async end(secret: string): Promise<void> {
      await orm.delete(sessions).where(byHash(secret));
    },
  };
}
