import { and, between, desc, eq, gt, lte, ne } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createLastUsedWriter } from "../db/last-used.ts";
import { createSecret, hashSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";
import { createConditionsCheck, type SessionConditions } from "./session-conditions.ts";
import { createSignInTables } from "./tables.ts";

/** How long a session lasts, whether used or not, in milliseconds. */
export const SESSION_LIFETIME = 30 * 24 * 3_600_000;

/** How long a proof of who sits there is taken for fresh, in milliseconds. */
const PROOF_LIFETIME = 10 * 60_000;

/** Characters that are kept of what a browser calls itself. */
const MAX_BROWSER = 300;

/** What is known of a session. */
export interface SessionRecord {
  /** Says nothing about its secret. */
  readonly id: string;
  readonly browser: string;
  readonly createdAt: Date;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
}

export type Sessions = ReturnType<typeof createSessions>;

/** The store of sessions. `clock` gives milliseconds since 1970. */
export function createSessions({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const { sessions } = db.tables(createSignInTables);
  const checkConditions = createConditionsCheck({ db, clock });
  const isThis = (secret: string) => eq(sessions.hash, hashSecret(secret));
  const isAlive = () => gt(sessions.expiresAt, new Date(clock()));
  const markUsed = createLastUsedWriter(db, (tx, id, now) =>
    tx
      .update(sessions)
      .set({ lastUsedAt: new Date(now) })
      .where(eq(sessions.hash, id)),
  );

  return {
    /**
     * Begins a session of a person who has just proved who they are, and removes those that are over.
     * Returns the secret for the cookie.
     * @param browser as it calls itself
     * @param conditions what the sign-in rests on
     * @throws AppError `forbidden` when the account is shut, or the conditions is there no more
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

    /** The account whose session a secret is of; null for an unknown or ended one. */
    async findAccount(secret: string): Promise<string | null> {
      const [row] = await orm
        .select({
          id: sessions.hash,
          accountId: sessions.accountId,
          lastUsedAt: sessions.lastUsedAt,
        })
        .from(sessions)
        .where(and(isThis(secret), isAlive()));
      if (!row) return null;
      await markUsed(row.id, row.lastUsedAt, clock());
      return row.accountId;
    },

    /** Whether its person has proved who they are a moment ago: a stolen session is mostly an old one. */
    async isProved(secret: string): Promise<boolean> {
      const now = clock();
      // A clock that was set back must not lengthen it.
      const isFresh = between(sessions.provedAt, new Date(now - PROOF_LIFETIME), new Date(now));
      const [session] = await orm
        .select({ id: sessions.hash })
        .from(sessions)
        .where(and(isThis(secret), isAlive(), isFresh));
      return session !== undefined;
    },

    /** Notes that the person of a session has proved who they are. */
    async prove(secret: string): Promise<void> {
      await orm
        .update(sessions)
        .set({ provedAt: new Date(clock()) })
        .where(isThis(secret));
    },

    /** The account's sessions, newest first. */
    list: async (accountId: string): Promise<SessionRecord[]> =>
      await orm
        .select({
          id: sessions.hash,
          browser: sessions.browser,
          createdAt: sessions.createdAt,
          lastUsedAt: sessions.lastUsedAt,
        })
        .from(sessions)
        .where(and(eq(sessions.accountId, accountId), isAlive()))
        .orderBy(desc(sessions.createdAt), desc(sessions.hash)),

    /** The `id` in `list` of the session with a secret. */
    idOf: hashSecret,

    /**
     * Ends one of an account's sessions.
     * @throws AppError `not_found` when the account has no such session
     */
    async revoke(accountId: string, id: string): Promise<void> {
      const isIt = and(eq(sessions.accountId, accountId), eq(sessions.hash, id));
      const ended = await orm.delete(sessions).where(isIt).returning({ id: sessions.hash });
      if (ended.length > 0) return;
      throw new AppError("not_found", "This session has ended already.");
    },

    /** Ends all of an account's sessions but the one with this secret. Returns how many. */
    async revokeOthers(accountId: string, secret: string): Promise<number> {
      const ended = await orm
        .delete(sessions)
        .where(and(eq(sessions.accountId, accountId), ne(sessions.hash, hashSecret(secret))))
        .returning({ id: sessions.hash });
      return ended.length;
    },

    /** Ends all of an account's sessions. Returns how many. */
    async revokeAll(accountId: string): Promise<number> {
      const ended = await orm
        .delete(sessions)
        .where(eq(sessions.accountId, accountId))
        .returning({ id: sessions.hash });
      return ended.length;
    },

    /** Ends a session, if there is one. */
    async end(secret: string): Promise<void> {
      await orm.delete(sessions).where(isThis(secret));
    },
  };
}
