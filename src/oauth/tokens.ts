import { and, eq, gt, isNull, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { hashSecret } from "../db/secret.ts";
import { createUseMark } from "../db/use-mark.ts";
import type { Scope } from "../keys/scopes.ts";
import { GRANT, type Grants } from "./grants.ts";
import { OAuthError } from "./oauth-error.ts";
import { oauthGrants, oauthTokens } from "./tables.ts";
import { ACCESS_PREFIX, issueTokens, type TokenSet } from "./token-set.ts";

/**
 * For how long a used refresh token still gives tokens, in milliseconds: the answer to its first use
 * may have been lost, and clients with several sessions refresh at once.
 */
export const REUSE_GRACE = 60_000;

/** What a client shows to get the next tokens. */
export interface Renewal {
  readonly clientId: string;
  readonly refreshToken: string;
  /** Fewer scopes for the access token; null for all. */
  readonly scopes: readonly Scope[] | null;
  readonly resource: string;
}

/** Whom an access token speaks for. */
export interface TokenHolder {
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  /** Host that the app was answered at when the person allowed it. */
  readonly app: string;
}

export type Tokens = ReturnType<typeof createTokens>;

/**
 * The store of tokens. `clock` gives milliseconds since 1970.
 * @param resource the one whose tokens are accepted (RFC 8707; MCP, "Access Token Usage")
 */
export function createTokens({
  db,
  grants,
  resource: audience,
  clock,
}: {
  db: Database;
  grants: Grants;
  resource: string;
  clock: () => number;
}) {
  const { orm } = db;
  const mark = orm
    .update(oauthGrants)
    .set({ lastUsedAt: sql`${sql.placeholder("now")}` })
    .where(eq(oauthGrants.id, sql.placeholder("id")))
    .prepare();
  const markUsed = createUseMark(db, (id, now) => void mark.run({ id, now }));

  const holder = orm
    .select({
      grantId: oauthGrants.id,
      accountId: oauthGrants.accountId,
      scopes: oauthTokens.scopes,
      app: oauthGrants.redirectHost,
      lastUsedAt: oauthGrants.lastUsedAt,
    })
    .from(oauthTokens)
    .innerJoin(oauthGrants, eq(oauthGrants.id, oauthTokens.grantId))
    .where(
      and(
        eq(oauthTokens.hash, sql.placeholder("hash")),
        eq(oauthTokens.kind, "access"),
        gt(oauthTokens.expiresAt, sql.placeholder("now")),
        isNull(oauthGrants.revokedAt),
        eq(oauthGrants.resource, audience),
      ),
    )
    .prepare();

  const find = (token: string) =>
    orm
      .select({
        kind: oauthTokens.kind,
        expiresAt: oauthTokens.expiresAt,
        usedAt: oauthTokens.usedAt,
        grant: GRANT,
        resource: oauthGrants.resource,
      })
      .from(oauthTokens)
      .innerJoin(oauthGrants, eq(oauthGrants.id, oauthTokens.grantId))
      .where(eq(oauthTokens.hash, hashSecret(token)))
      .get();

  return {
    /**
     * Exchanges a refresh token for the next tokens. One that comes back after its grace has been
     * stolen, before or now: all tokens of its grant are revoked (RFC 9700, section 4.14.2).
     * @throws OAuthError `invalid_grant`, `invalid_scope` or `invalid_target`
     */
    renew({ clientId, refreshToken, scopes, resource }: Renewal): TokenSet {
      const now = clock();
      const outcome = orm.transaction(
        (tx): TokenSet | OAuthError => {
          const row = find(refreshToken);
          if (row?.kind !== "refresh" || row.grant.clientId !== clientId) return refused();
          if (row.grant.revokedAt !== null || row.expiresAt.getTime() <= now) return refused();
          // Nor must a clock that was set back make the grace longer.
          if (row.usedAt !== null && Math.abs(now - row.usedAt.getTime()) >= REUSE_GRACE) {
            grants.revokeOfAnyAccount(row.grant.id);
            return refused();
          }
          // RFC 6749, section 6: no scope that was not granted.
          if (scopes?.some((scope) => !row.grant.scopes.includes(scope))) {
            return new OAuthError("invalid_scope", "The grant does not have all these scopes.");
          }
          if (row.resource !== resource) {
            return new OAuthError("invalid_target", "The token is for another resource.");
          }
          if (row.usedAt === null) {
            tx.update(oauthTokens)
              .set({ usedAt: new Date(now) })
              .where(eq(oauthTokens.hash, hashSecret(refreshToken)))
              .run();
          }
          return issueTokens(tx, row.grant, scopes ?? row.grant.scopes, now);
        },
        { behavior: "immediate" },
      );
      if (outcome instanceof OAuthError) throw outcome;
      return outcome;
    },

    /**
     * Ends a token at its client's wish: an access token alone, or with a refresh token the whole
     * grant (RFC 7009, section 2.1). An unknown token is none already.
     * @throws OAuthError `invalid_grant` for another client's token
     */
    revoke(clientId: string, token: string): void {
      const row = find(token);
      if (!row) return;
      if (row.grant.clientId !== clientId) {
        throw new OAuthError("invalid_grant", "The token was issued to another client.");
      }
      if (row.kind === "refresh") grants.revokeOfAnyAccount(row.grant.id);
      else
        orm
          .delete(oauthTokens)
          .where(eq(oauthTokens.hash, hashSecret(token)))
          .run();
    },

    /**
     * Tells whom an access token speaks for; null for an unknown, expired or revoked one, and for
     * one of another resource. Asks the database on every call, so that another process's revocation
     * counts at once.
     */
    authenticate(presented: string): TokenHolder | null {
      if (!presented.startsWith(ACCESS_PREFIX)) return null;
      const now = clock();
      const row = holder.get({ hash: hashSecret(presented), now });
      if (!row) return null;
      markUsed(row.grantId, row.lastUsedAt, now);
      return { accountId: row.accountId, scopes: row.scopes, app: row.app };
    },
  };
}

function refused(): OAuthError {
  return new OAuthError("invalid_grant", "The refresh token is unknown, used, revoked or expired.");
}
