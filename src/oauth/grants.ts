import { and, asc, eq, gt, inArray, isNull, lte, ne, type SQL, sql } from "drizzle-orm";
import type { Orm, StoreParts } from "../db/database.ts";
import { AppError } from "../errors.ts";
import { type Client, isRegisteredRedirectUri, unverifiedName } from "./clients/client.ts";
import { OAuthError } from "./oauth-error.ts";
import { createOAuthTables, type OAuthTables } from "./tables.ts";

/** A person's permission for a client. */
export type Grant = OAuthTables["oauthGrants"]["$inferSelect"];

/** A used code or refresh token was sent again: its grant is revoked. */
export class ReuseError extends OAuthError {
  readonly grant: Grant;

  /** @param refusal the error for the client: the same as for any invalid token */
  constructor({ code, message }: OAuthError, grant: Grant) {
    super(code, message);
    this.grant = grant;
  }
}

/** Milliseconds for which a revoked grant stays in the list. */
const REVOKED_LIFETIME = 30 * 24 * 3_600_000;

/** The fields that name a grant in the security log. */
export const grantFacts = ({ accountId, id, clientName }: Grant) => ({
  accountId,
  subjectId: id,
  subject: clientName,
});

export type Grants = ReturnType<typeof createGrants>;

/** The store of grants. */
export function createGrants({ db, clock }: StoreParts) {
  const { orm } = db;
  const { oauthGrants, oauthCodes, oauthTokens } = db.tables(createOAuthTables);
  const isOf = (accountId: string) => eq(oauthGrants.accountId, accountId);
  const isOfClient = (clientId: string) => eq(oauthGrants.clientId, clientId);
  const isAlive = () => gt(oauthGrants.expiresAt, new Date(clock()));
  const isValidOf = (accountId: string) =>
    and(isOf(accountId), isNull(oauthGrants.revokedAt), isAlive());

  const exists = async (condition: SQL | undefined): Promise<boolean> => {
    const grant = orm.select({ id: oauthGrants.id }).from(oauthGrants);
    return (await grant.where(condition).limit(1)).length > 0;
  };

  const list = async (condition?: SQL): Promise<Grant[]> =>
    await orm
      .select()
      .from(oauthGrants)
      .where(and(condition, isAlive()))
      .orderBy(asc(oauthGrants.id));

  const revocation = (now: number) => ({
    revokedAt: sql`coalesce(${oauthGrants.revokedAt}, ${now})`,
    expiresAt: sql`CASE WHEN ${oauthGrants.revokedAt} IS NULL THEN ${now + REVOKED_LIFETIME} ELSE ${oauthGrants.expiresAt} END`,
  });
  const revokeIn = async (tx: Orm, condition: SQL | undefined): Promise<Grant> => {
    const [revoked] = await tx
      .update(oauthGrants)
      .set(revocation(clock()))
      .where(condition)
      .returning();
    if (!revoked) throw new AppError("not_found", "No grant with this id.");
    await tx.delete(oauthTokens).where(eq(oauthTokens.grantId, revoked.id));
    return revoked;
  };
  const revokeWhere = (condition: SQL | undefined): Promise<Grant> =>
    db.transaction((tx) => revokeIn(tx, condition));

  return {
    /** The grants of an account, oldest first, including those revoked in the last 30 days. */
    list: (accountId: string): Promise<Grant[]> => list(isOf(accountId)),

    /**
     * Revokes a grant and its tokens permanently. Every process refuses them from its next request on.
     * A second revocation does not change the time of the first.
     * @throws AppError `not_found` when the account has no such grant
     */
    revoke: (accountId: string, id: string): Promise<Grant> =>
      revokeWhere(and(isOf(accountId), eq(oauthGrants.id, id))),

    /**
     * Pauses a grant, or resumes it. Every process refuses its tokens from its next request on.
     * @throws AppError `not_found` when the account has no such grant
     */
    async pause(accountId: string, id: string, isPaused: boolean): Promise<Grant> {
      const [changed] = await orm
        .update(oauthGrants)
        .set({ pausedAt: isPaused ? new Date(clock()) : null })
        .where(and(isOf(accountId), eq(oauthGrants.id, id)))
        .returning();
      if (!changed) throw new AppError("not_found", "No grant with this id.");
      return changed;
    },

    /** Revokes all valid grants of an account. Returns how many. */
    revokeAll: (accountId: string): Promise<number> =>
      db.transaction(async (tx) => {
        const isTheirs = isValidOf(accountId);
        const held = tx.select({ id: oauthGrants.id }).from(oauthGrants).where(isTheirs);
        await tx.delete(oauthTokens).where(inArray(oauthTokens.grantId, held));
        const revoked = await tx
          .update(oauthGrants)
          .set(revocation(clock()))
          .where(isTheirs)
          .returning({ id: oauthGrants.id });
        return revoked.length;
      }),

    /** Which of these ids are of grants that were revoked, or that nobody has. */
    async gone(ids: readonly string[]): Promise<string[]> {
      const isThere = and(inArray(oauthGrants.id, [...ids]), isNull(oauthGrants.revokedAt));
      const found = await orm.select({ id: oauthGrants.id }).from(oauthGrants).where(isThere);
      const there = new Set(found.map(({ id }) => id));
      return ids.filter((id) => !there.has(id));
    },

    /** The grants of all accounts, for the command line. */
    listOfAllAccounts: (): Promise<Grant[]> => list(),

    /** Revokes a grant of any account, for the administrator and for stolen tokens. */
    revokeOfAnyAccount: (id: string): Promise<Grant> => revokeWhere(eq(oauthGrants.id, id)),

    /** The same within a transaction. */
    revokeWithin: (tx: Orm, id: string): Promise<Grant> => revokeIn(tx, eq(oauthGrants.id, id)),

    /** Whether anyone has allowed a client anything, as far as grants are still stored. */
    isKnown: (clientId: string): Promise<boolean> => exists(isOfClient(clientId)),

    /** Whether a client's metadata document required a signature when it was last read. */
    mustSign: (clientId: string): Promise<boolean> =>
      exists(and(isOfClient(clientId), eq(oauthGrants.mustSign, true))),

    /**
     * Applies a client's metadata document to its grants: whether it must sign and, where the document could not be
     * reached at the time of consent, its name. A grant that the document does not allow is revoked.
     */
    async follow({ id, name, redirectUris, keys }: Client): Promise<void> {
      const mustSign = keys?.required ?? false;
      await orm
        .update(oauthGrants)
        .set({ mustSign })
        .where(and(isOfClient(id), ne(oauthGrants.mustSign, mustSign)));
      const isUnverified = and(
        isOfClient(id),
        eq(oauthGrants.clientName, unverifiedName(id)),
        isNull(oauthGrants.revokedAt),
      );
      const unverified = await orm
        .select({ grantId: oauthGrants.id, redirectUri: oauthCodes.redirectUri })
        .from(oauthGrants)
        .innerJoin(oauthCodes, eq(oauthCodes.grantId, oauthGrants.id))
        .where(isUnverified);
      for (const { grantId, redirectUri } of unverified) {
        const isGrant = eq(oauthGrants.id, grantId);
        if (!isRegisteredRedirectUri(redirectUris, redirectUri)) await revokeWhere(isGrant);
        else await orm.update(oauthGrants).set({ clientName: name }).where(isGrant);
      }
    },

    exists: (accountId: string, clientId: string): Promise<boolean> =>
      exists(and(isValidOf(accountId), isOfClient(clientId))),

    /** Removes expired grants with their codes and tokens, and expired tokens. */
    async prune(): Promise<void> {
      const now = new Date(clock());
      await orm.delete(oauthGrants).where(lte(oauthGrants.expiresAt, now));
      await orm.delete(oauthTokens).where(lte(oauthTokens.expiresAt, now));
    },
  };
}
