import { and, eq, getTableColumns, gt, inArray, isNull, sql } from "drizzle-orm";
import { createLastUsedWriter, type Orm, type StoreParts } from "../db/database.ts";
import { hashSecret } from "../db/id.ts";
import { boundForms, toBound } from "../keys/reach.ts";
import { allows, type Scope } from "../keys/scopes.ts";
import { ACCESS_PREFIX, type AccessSet, issueAccess, issueTokens, type TokenSet } from "./codes.ts";
import { type Grant, type Grants, ReuseError } from "./grants.ts";
import { OAuthError } from "./oauth-error.ts";
import { createOAuthTables, type OAuthTables } from "./tables.ts";

/**
 * Milliseconds for which a used refresh token still gives an access token. The first answer may have
 * been lost, and several sessions of a client may refresh at the same time.
 */
const REUSE_GRACE_MS = 60_000;

/** A client's request for the next tokens. */
interface Renewal {
  readonly clientId: string;
  readonly refreshToken: string;
  /** Fewer scopes for the access token; null for all. */
  readonly scopes: readonly Scope[] | null;
  readonly resource: string;
}

/**
 * The store of tokens.
 * @param resource tokens of this resource are accepted (RFC 8707; MCP, "Access Token Usage")
 */
export function createTokens({
  db,
  grants,
  resource: audience,
  clock,
}: StoreParts & { grants: Grants; resource: string }) {
  const { orm } = db;
  const tables = db.tables(createOAuthTables);
  const { oauthGrants, oauthTokens } = tables;
  const markUsed = createLastUsedWriter(db, (tx, id, now) =>
    tx
      .update(oauthGrants)
      .set({ lastUsedAt: new Date(now) })
      .where(eq(oauthGrants.id, id)),
  );

  const holder = orm
    .select({
      grantId: oauthGrants.id,
      accountId: oauthGrants.accountId,
      scopes: oauthTokens.scopes,
      project: oauthGrants.project,
      projectOnly: oauthGrants.projectOnly,
      clientName: oauthGrants.clientName,
      app: oauthGrants.redirectHost,
      lastUsedAt: oauthGrants.lastUsedAt,
      pausedAt: oauthGrants.pausedAt,
      spaceId: oauthGrants.spaceId,
    })
    .from(oauthTokens)
    .innerJoin(oauthGrants, eq(oauthGrants.id, oauthTokens.grantId))
    .where(
      and(
        eq(oauthTokens.hash, sql.placeholder("hash")),
        eq(oauthTokens.kind, "access"),
        gt(oauthTokens.expiresAt, sql.placeholder("now")),
        isNull(oauthGrants.revokedAt),
        inArray(oauthGrants.resource, boundForms(audience)),
      ),
    )
    .prepare();

  return {
    /**
     * Exchanges a refresh token for the next tokens. Within its grace, a used token gives only an access token, so that
     * a grant never has two refresh tokens that can be exchanged. If a token is used after its grace, one of the users
     * stole it: all tokens of its grant are revoked (RFC 9700, section 4.14.2).
     * @throws OAuthError `invalid_grant`, `invalid_scope` or `invalid_target`
     */
    async renew(renewal: Renewal): Promise<TokenSet | AccessSet> {
      const { clientId, refreshToken } = renewal;
      const now = clock();
      await grants.prune();
      const outcome = await db.transaction(
        async (tx): Promise<TokenSet | AccessSet | OAuthError> => {
          const row = await findByHash(tx, tables, hashSecret(refreshToken));
          if (row?.kind !== "refresh" || row.grant.clientId !== clientId) return refused();
          if (row.grant.revokedAt !== null || row.expiresAt.getTime() <= now) return refused();
          const current = await currentToken(tx, tables, row, now);
          if (current.usedAt !== null && !isInGrace(current.usedAt, now)) {
            return new ReuseError(refused(), await grants.revokeWithin(tx, row.grant.id));
          }
          const problem = renewalProblem(row.grant, renewal);
          if (problem) return problem;
          const access = renewal.scopes ?? row.grant.scopes;
          if (current.usedAt !== null) {
            await tx
              .update(oauthTokens)
              .set({ repeatedAt: sql`coalesce(${oauthTokens.repeatedAt}, ${now})` })
              .where(eq(oauthTokens.hash, row.hash));
            return await issueAccess(tx, tables, row.grant.id, access, now);
          }
          const tokens = await issueTokens(tx, tables, row.grant, access, now);
          // The presented token and the one it is treated as: the grace of both begins now.
          await tx
            .update(oauthTokens)
            .set({
              usedAt: new Date(now),
              successor: hashSecret(tokens.refresh_token),
              repeatedAt: null,
            })
            .where(inArray(oauthTokens.hash, [row.hash, current.hash]));
          return tokens;
        },
      );
      if (outcome instanceof OAuthError) throw outcome;
      return outcome;
    },

    /**
     * Revokes a token at the request of its client. A refresh token ends its whole grant (RFC 7009,
     * section 2.1), which is returned; an access token ends alone. An unknown token is ignored.
     * @throws OAuthError `invalid_grant` for another client's token
     */
    async revoke(clientId: string, token: string): Promise<Grant | null> {
      const row = await findByHash(orm, tables, hashSecret(token));
      if (!row) return null;
      if (row.grant.clientId !== clientId) {
        throw new OAuthError("invalid_grant", "The token was issued to another client.");
      }
      if (row.kind === "refresh") return await grants.revokeOfAnyAccount(row.grant.id);
      await orm.delete(oauthTokens).where(eq(oauthTokens.hash, row.hash));
      return null;
    },

    /**
     * Returns the holder of an access token; null for an unknown, expired or revoked token, and for one of another
     * resource. Every call reads the database, so that revocations by other processes take effect at once.
     */
    async authenticate(presented: string) {
      if (!presented.startsWith(ACCESS_PREFIX)) return null;
      const now = clock();
      const [row] = await holder.execute({ hash: hashSecret(presented), now });
      if (!row) return null;
      await markUsed(row.grantId, row.lastUsedAt, now);
      const { accountId, scopes, app, spaceId, clientName: by, grantId: id } = row;
      const isPaused = row.pausedAt !== null;
      const bound = toBound(row);
      return { accountId, scopes, bound, spaceId, app, credential: { by, id }, isPaused };
    },
  };
}

/** Why a valid refresh token does not give what the client asks for; null if it does. */
function renewalProblem(
  grant: Pick<Grant, "scopes" | "resource">,
  { scopes, resource }: Renewal,
): OAuthError | null {
  // RFC 6749, section 6: no scope that was not granted.
  if (scopes?.some((scope) => !allows(grant.scopes, scope))) {
    return new OAuthError("invalid_scope", "The grant does not have all these scopes.");
  }
  if (!boundForms(resource).includes(grant.resource)) {
    return new OAuthError("invalid_target", "The token is for another resource.");
  }
  return null;
}

/** A token and its grant; undefined for an unknown token. */
async function findByHash(tx: Orm, { oauthTokens, oauthGrants }: OAuthTables, hash: string) {
  const [row] = await tx
    .select({ ...getTableColumns(oauthTokens), grant: oauthGrants })
    .from(oauthTokens)
    .innerJoin(oauthGrants, eq(oauthGrants.id, oauthTokens.grantId))
    .where(eq(oauthTokens.hash, hash));
  return row;
}

type StoredToken = Pick<
  OAuthTables["oauthTokens"]["$inferSelect"],
  "hash" | "usedAt" | "successor" | "repeatedAt"
>;

/**
 * The token that a refresh token is treated as: its successor if it was repeated within its grace,
 * otherwise itself. When an answer has no refresh token, clients keep the one that they sent (RFC 6749,
 * section 6). One of several sessions may have replaced the successor with it.
 */
async function currentToken(
  tx: Orm,
  tables: OAuthTables,
  token: StoredToken,
  now: number,
): Promise<StoredToken> {
  const { usedAt, repeatedAt, successor } = token;
  if (usedAt === null || isInGrace(usedAt, now) || !repeatedAt || !successor) return token;
  return (await findByHash(tx, tables, successor)) ?? token;
}

/** A clock that was set back must not make the grace longer. */
function isInGrace(usedAt: Date, now: number): boolean {
  return Math.abs(now - usedAt.getTime()) < REUSE_GRACE_MS;
}

function refused(): OAuthError {
  return new OAuthError("invalid_grant", "The refresh token is unknown, used, revoked or expired.");
}
