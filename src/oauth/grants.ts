import { and, asc, eq, gt, isNull, lte, ne, type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { AppError } from "../errors.ts";
import type { Scope } from "../keys/scopes.ts";
import { oauthGrants, oauthTokens } from "./tables.ts";

/** What a person has allowed a client. */
export interface Grant {
  readonly id: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectHost: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
  /** When it ends unless the client uses it before. */
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
}

export const GRANT = {
  id: oauthGrants.id,
  accountId: oauthGrants.accountId,
  clientId: oauthGrants.clientId,
  clientName: oauthGrants.clientName,
  redirectHost: oauthGrants.redirectHost,
  scopes: oauthGrants.scopes,
  createdAt: oauthGrants.createdAt,
  lastUsedAt: oauthGrants.lastUsedAt,
  expiresAt: oauthGrants.expiresAt,
  revokedAt: oauthGrants.revokedAt,
};

/** How long a revoked grant stays in the list, in milliseconds. */
const REVOKED_LIFETIME = 30 * 24 * 3_600_000;

/** A grant as the security log names it. */
export const grantFacts = ({ accountId, id, clientName }: Grant) => ({
  accountId,
  subjectId: id,
  subject: clientName,
});

export type Grants = ReturnType<typeof createGrants>;

/** The store of grants. `clock` gives milliseconds since 1970. */
export function createGrants({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;

  const list = (condition?: SQL): Grant[] =>
    orm
      .select(GRANT)
      .from(oauthGrants)
      .where(and(condition, gt(oauthGrants.expiresAt, new Date(clock()))))
      .orderBy(asc(oauthGrants.id))
      .all();

  const revokeWhere = (condition: SQL | undefined): Grant => {
    const now = clock();
    const grant = orm.transaction(
      (tx) => {
        const revoked = tx
          .update(oauthGrants)
          .set({
            revokedAt: sql`coalesce(${oauthGrants.revokedAt}, ${now})`,
            expiresAt: sql`CASE WHEN ${oauthGrants.revokedAt} IS NULL THEN ${now + REVOKED_LIFETIME} ELSE ${oauthGrants.expiresAt} END`,
          })
          .where(condition)
          .returning(GRANT)
          .get();
        if (revoked) tx.delete(oauthTokens).where(eq(oauthTokens.grantId, revoked.id)).run();
        return revoked;
      },
      { behavior: "immediate" },
    );
    if (!grant) throw new AppError("not_found", "No grant with this id.");
    return grant;
  };

  return {
    /** The account's grants, revoked ones of the last 30 days too, oldest first. */
    list: (accountId: string): Grant[] => list(eq(oauthGrants.accountId, accountId)),

    /**
     * Ends a grant for good, with all its tokens: every process refuses them from its next request
     * on. Revoking twice keeps the first time.
     * @throws AppError `not_found` when the account has no such grant
     */
    revoke: (accountId: string, id: string): Grant =>
      revokeWhere(and(eq(oauthGrants.accountId, accountId), eq(oauthGrants.id, id))),

    /** Ends all grants of an account that still hold. Returns how many. */
    revokeAll: (accountId: string): number =>
      list(and(eq(oauthGrants.accountId, accountId), isNull(oauthGrants.revokedAt))).map(({ id }) =>
        revokeWhere(eq(oauthGrants.id, id)),
      ).length,

    /** The grants of all accounts, for the administrator at the command line. */
    listOfAllAccounts: (): Grant[] => list(),

    /** Like `revoke`, for a grant of any account: for the administrator, and for stolen tokens. */
    revokeOfAnyAccount: (id: string): Grant => revokeWhere(eq(oauthGrants.id, id)),

    /** Whether anyone has ever allowed a client anything, as far as is remembered. */
    isKnown: (clientId: string): boolean =>
      orm
        .select({ id: oauthGrants.id })
        .from(oauthGrants)
        .where(eq(oauthGrants.clientId, clientId))
        .limit(1)
        .get() !== undefined,

    /** Whether a client had to sign, when its metadata document was last read. */
    mustSign: (clientId: string): boolean =>
      orm
        .select({ id: oauthGrants.id })
        .from(oauthGrants)
        .where(and(eq(oauthGrants.clientId, clientId), eq(oauthGrants.mustSign, true)))
        .limit(1)
        .get() !== undefined,

    /** Remembers for all grants of a client what its metadata document says now. */
    rememberSigning: (clientId: string, mustSign: boolean): void =>
      void orm
        .update(oauthGrants)
        .set({ mustSign })
        .where(and(eq(oauthGrants.clientId, clientId), ne(oauthGrants.mustSign, mustSign)))
        .run(),

    /** Whether an account has a grant of a client that still holds. */
    exists: (accountId: string, clientId: string): boolean =>
      orm
        .select({ id: oauthGrants.id })
        .from(oauthGrants)
        .where(
          and(
            eq(oauthGrants.accountId, accountId),
            eq(oauthGrants.clientId, clientId),
            isNull(oauthGrants.revokedAt),
            gt(oauthGrants.expiresAt, new Date(clock())),
          ),
        )
        .get() !== undefined,

    /** Removes what is over: grants with all that came of them, and single tokens. */
    prune(): void {
      const now = new Date(clock());
      orm.delete(oauthGrants).where(lte(oauthGrants.expiresAt, now)).run();
      orm.delete(oauthTokens).where(lte(oauthTokens.expiresAt, now)).run();
    },
  };
}
