import { eq } from "drizzle-orm";
import type { Orm } from "../db/database.ts";
import { createSecret, hashSecret } from "../db/secret.ts";
import { formatScopes, type Scope } from "../keys/scopes.ts";
import type { OAuthTables } from "./tables.ts";

/** Milliseconds for which an access token is valid, unless it is revoked. */
const ACCESS_LIFETIME = 3_600_000;
/** Milliseconds for which an unused refresh token is valid. */
const REFRESH_LIFETIME = 90 * 24 * 3_600_000;

export const ACCESS_PREFIX = "ctxa_";
const REFRESH_PREFIX = "ctxr_";

/** The answer to a refresh token within its grace (RFC 6749, section 5.1). */
export interface AccessSet {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly scope: string;
}

/** The answer to a code or a refresh token (RFC 6749, section 5.1). */
export interface TokenSet extends AccessSet {
  readonly refresh_token: string;
}

/**
 * Issues an access token of a grant.
 * @param scopes scopes of the token, which the grant must have
 * @param now milliseconds since 1970
 */
export async function issueAccess(
  tx: Orm,
  { oauthTokens }: OAuthTables,
  grantId: string,
  scopes: readonly Scope[],
  now: number,
): Promise<AccessSet> {
  const token = createSecret(ACCESS_PREFIX);
  const expiresAt = new Date(now + ACCESS_LIFETIME);
  await tx
    .insert(oauthTokens)
    .values({ hash: hashSecret(token), grantId, kind: "access", scopes, expiresAt });
  return {
    access_token: token,
    token_type: "Bearer",
    expires_in: ACCESS_LIFETIME / 1000,
    scope: formatScopes(scopes),
  };
}

/**
 * Issues an access token and the next refresh token of a grant.
 * @param access scopes of the access token; the refresh token keeps those of the grant
 * @param now milliseconds since 1970
 */
export async function issueTokens(
  tx: Orm,
  tables: OAuthTables,
  grant: { id: string; scopes: readonly Scope[] },
  access: readonly Scope[],
  now: number,
): Promise<TokenSet> {
  const { id: grantId, scopes } = grant;
  const { oauthGrants, oauthTokens } = tables;
  const token = createSecret(REFRESH_PREFIX);
  const expiresAt = new Date(now + REFRESH_LIFETIME);
  await tx
    .insert(oauthTokens)
    .values({ hash: hashSecret(token), grantId, kind: "refresh", scopes, expiresAt });
  await tx.update(oauthGrants).set({ expiresAt }).where(eq(oauthGrants.id, grantId));
  return { ...(await issueAccess(tx, tables, grantId, access, now)), refresh_token: token };
}
