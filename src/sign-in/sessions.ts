import { and, between, desc, eq, gt, lte, ne, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createSecret, hashSecret } from "../db/secret.ts";
import { createUseMark } from "../db/use-mark.ts";
import { AppError } from "../errors.ts";
import { sessions } from "./tables.ts";

/** How long a session lasts, whether used or not, in milliseconds. */
export const SESSION_LIFETIME = 30 * 24 * 3_600_000;

/** How long a proof of who sits there is taken for fresh, in milliseconds. */
export const PROOF_LIFETIME = 10 * 60_000;

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
  const isThis = (secret: string) => eq(sessions.hash, hashSecret(secret));
  const isAlive = () => gt(sessions.expiresAt, new Date(clock()));
  const markUsed = createUseMark(
    db,
    (id, now) =>
      void orm
        .update(sessions)
        .set({ lastUsedAt: new Date(now) })
        .where(eq(sessions.hash, id))
        .run(),
  );

  return {
    /**
     * Begins a session of a person who has just proved who they are, and removes those that are over. Returns the secret for the cookie.
     * @param browser as it calls itself
     */
    begin(accountId: string, browser = ""): string {
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
          browser: browser.slice(0, MAX_BROWSER),
          createdAt: new Date(now),
          expiresAt: new Date(now + SESSION_LIFETIME),
          provedAt: new Date(now),
        })
        .run();
      return secret;
    },

    /** The account whose session a secret is of; null for an unknown or ended one. */
    findAccount(secret: string): string | null {
      const row = orm
        .select({
          id: sessions.hash,
          accountId: sessions.accountId,
          lastUsedAt: sessions.lastUsedAt,
        })
        .from(sessions)
        .where(and(isThis(secret), isAlive()))
        .get();
      if (!row) return null;
      markUsed(row.id, row.lastUsedAt, clock());
      return row.accountId;
    },

    /** Whether its person has proved who they are a moment ago: a stolen session is mostly an old one. */
    isProved(secret: string): boolean {
      const now = clock();
      // A clock that was set back must not lengthen it.
      const isFresh = between(sessions.provedAt, new Date(now - PROOF_LIFETIME), new Date(now));
      const row = orm.select({ id: sessions.hash }).from(sessions);
      return row.where(and(isThis(secret), isAlive(), isFresh)).get() !== undefined;
    },

    /** Notes that the person of a session has proved who they are. */
    prove: (secret: string): void =>
      void orm
        .update(sessions)
        .set({ provedAt: new Date(clock()) })
        .where(isThis(secret))
        .run(),

    /** The account's sessions, newest first. */
    list: (accountId: string): SessionRecord[] =>
      orm
        .select({
          id: sessions.hash,
          browser: sessions.browser,
          createdAt: sessions.createdAt,
          lastUsedAt: sessions.lastUsedAt,
        })
        .from(sessions)
        .where(and(eq(sessions.accountId, accountId), isAlive()))
        .orderBy(desc(sessions.createdAt), sql`rowid DESC`)
        .all(),

    /** The `id` in `list` of the session with a secret. */
    idOf: hashSecret,

    /**
     * Ends one of an account's sessions.
     * @throws AppError `not_found` when the account has no such session
     */
    revoke(accountId: string, id: string): void {
      const isIt = and(eq(sessions.accountId, accountId), eq(sessions.hash, id));
      if (orm.delete(sessions).where(isIt).returning({ id: sessions.hash }).get()) return;
      throw new AppError("not_found", "This session has ended already.");
    },

    /** Ends all of an account's sessions but the one with this secret. Returns how many. */
    revokeOthers: (accountId: string, secret: string): number =>
      orm
        .delete(sessions)
        .where(and(eq(sessions.accountId, accountId), ne(sessions.hash, hashSecret(secret))))
        .returning({ id: sessions.hash })
        .all().length,

    /** Ends all of an account's sessions. Returns how many. */
    revokeAll: (accountId: string): number =>
      orm
        .delete(sessions)
        .where(eq(sessions.accountId, accountId))
        .returning({ id: sessions.hash })
        .all().length,

    /** Ends a session, if there is one. */
    end: (secret: string): void => void orm.delete(sessions).where(isThis(secret)).run(),
  };
}
