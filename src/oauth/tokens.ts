import { and, eq, gt, inArray, isNull, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { hashSecret } from "../db/secret.ts";
import { createUseMark } from "../db/use-mark.ts";
import { allows, type Scope } from "../keys/scopes.ts";
import { GRANT, type Grant, type Grants } from "./grants.ts";
import { OAuthError, ReuseError } from "./oauth-error.ts";
import { oauthGrants, oauthTokens } from "./tables.ts";
import {
  ACCESS_PREFIX,
  type AccessSet,
  issueAccess,
  issueTokens,
  type TokenSet,
} from "./token-set.ts";

/**
 * For how long a used refresh token still gives an access token, in milliseconds: the answer to its
 * first use may have been lost, and clients with several sessions refresh at once.
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
  /** The app's name, and the grant's id. */
  readonly credential: { readonly by: string; readonly id: string };
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
      clientName: oauthGrants.clientName,
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

  const findByHash = (hash: string) =>
    orm
      .select({
        hash: oauthTokens.hash,
        kind: oauthTokens.kind,
        expiresAt: oauthTokens.expiresAt,
        usedAt: oauthTokens.usedAt,
        successor: oauthTokens.successor,
        repeatedAt: oauthTokens.repeatedAt,
        grant: GRANT,
        resource: oauthGrants.resource,
      })
      .from(oauthTokens)
      .innerJoin(oauthGrants, eq(oauthGrants.id, oauthTokens.grantId))
      .where(eq(oauthTokens.hash, hash))
      .get();
  const find = (token: string) => findByHash(hashSecret(token));

  /**
   * The token that a refresh token stands for: itself, or its successor for a token that was
   * repeated within its grace. Clients keep the token that they sent when the answer has none (RFC
   * 6749, section 6), and one of several sessions may have written it over the successor.
   */
  const standsFor = (token: StoredToken, now: number): StoredToken => {
    if (token.usedAt === null || isInGrace(token.usedAt, now)) return token;
    const next = token.repeatedAt && token.successor ? findByHash(token.successor) : undefined;
    return next ?? token;
  };

  return {
    /**
     * Exchanges a refresh token for the next tokens. Within its grace a used one gives an access
     * token alone, so that a grant has one refresh token that can be exchanged, and never two. One
     * that comes back later has been stolen, before or now: all tokens of its grant are revoked
     * (RFC 9700, section 4.14.2).
     * @throws OAuthError `invalid_grant`, `invalid_scope` or `invalid_target`
     */
    renew({ clientId, refreshToken, scopes, resource }: Renewal): TokenSet | AccessSet {
      const now = clock();
      grants.prune();
      const outcome = orm.transaction(
        (tx): TokenSet | AccessSet | OAuthError => {
          const row = find(refreshToken);
          if (row?.kind !== "refresh" || row.grant.clientId !== clientId) return refused();
          if (row.grant.revokedAt !== null || row.expiresAt.getTime() <= now) return refused();
          const current = standsFor(row, now);
          if (current.usedAt !== null && !isInGrace(current.usedAt, now)) {
            return new ReuseError(refused(), grants.revokeOfAnyAccount(row.grant.id));
          }
          // RFC 6749, section 6: no scope that was not granted.
          if (scopes?.some((scope) => !allows(row.grant.scopes, scope))) {
            return new OAuthError("invalid_scope", "The grant does not have all these scopes.");
          }
          if (row.resource !== resource) {
            return new OAuthError("invalid_target", "The token is for another resource.");
          }
          const access = scopes ?? row.grant.scopes;
          if (current.usedAt !== null) {
            tx.update(oauthTokens)
              .set({ repeatedAt: sql`coalesce(${oauthTokens.repeatedAt}, ${now})` })
              .where(eq(oauthTokens.hash, row.hash))
              .run();
            return issueAccess(tx, row.grant.id, access, now);
          }
          const tokens = issueTokens(tx, row.grant, access, now);
          // Both that was presented and what it stands for: each has its grace from now on.
          tx.update(oauthTokens)
            .set({
              usedAt: new Date(now),
              successor: hashSecret(tokens.refresh_token),
              repeatedAt: null,
            })
            .where(inArray(oauthTokens.hash, [row.hash, current.hash]))
            .run();
          return tokens;
        },
        { behavior: "immediate" },
      );
      if (outcome instanceof OAuthError) throw outcome;
      return outcome;
    },

    /**
     * Ends a token at its client's wish: an access token alone, or with a refresh token the whole
     * grant (RFC 7009, section 2.1), which it returns. An unknown token is none already.
     * @throws OAuthError `invalid_grant` for another client's token
     */
    revoke(clientId: string, token: string): Grant | null {
      const row = find(token);
      if (!row) return null;
      if (row.grant.clientId !== clientId) {
        throw new OAuthError("invalid_grant", "The token was issued to another client.");
      }
      if (row.kind === "refresh") return grants.revokeOfAnyAccount(row.grant.id);
      orm
        .delete(oauthTokens)
        .where(eq(oauthTokens.hash, hashSecret(token)))
        .run();
      return null;
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
      const { accountId, scopes, app, clientName: by, grantId: id } = row;
      return { accountId, scopes, app, credential: { by, id } };
    },
  };
}

interface StoredToken {
  readonly hash: string;
  readonly usedAt: Date | null;
  readonly successor: string | null;
  readonly repeatedAt: Date | null;
}

/** A clock that was set back must not make the grace longer. */
function isInGrace(usedAt: Date, now: number): boolean {
  return Math.abs(now - usedAt.getTime()) < REUSE_GRACE;
}

function refused(): OAuthError {
  return new OAuthError("invalid_grant", "The refresh token is unknown, used, revoked or expired.");
}
