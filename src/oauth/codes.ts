import { eq, inArray } from "drizzle-orm";
import { createAccountCheck } from "../accounts/accounts.ts";
import type { Orm, StoreParts } from "../db/database.ts";
import { createId, createSecret, hashSecret } from "../db/id.ts";
import { AppError } from "../errors.ts";
import {
  type Bound,
  boundForms,
  boundProblem,
  inBoundForm,
  toBoundColumns,
} from "../keys/reach.ts";
import { formatScopes, type Scope } from "../keys/scopes.ts";
import { type AuthorizationRequest, matchesChallenge } from "./authorization-request.ts";
import { describeRedirect } from "./clients/client.ts";
import { type Grants, ReuseError } from "./grants.ts";
import { OAuthError } from "./oauth-error.ts";
import { createOAuthTables, type OAuthTables } from "./tables.ts";

/** Milliseconds for which an access token is valid, unless it is revoked. */
const ACCESS_LIFETIME = 3_600_000;
/** Milliseconds for which an unused refresh token is valid. */
const REFRESH_LIFETIME = 90 * 24 * 3_600_000;

export const ACCESS_PREFIX = "ctxa_";
const REFRESH_PREFIX = "ctxr_";

/** The answer to a refresh token within its grace (RFC 6749, section 5.1). */
export type AccessSet = Awaited<ReturnType<typeof issueAccess>>;

/** The answer to a code or a refresh token (RFC 6749, section 5.1). */
export type TokenSet = Awaited<ReturnType<typeof issueTokens>>;

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
) {
  const token = createSecret(ACCESS_PREFIX);
  const expiresAt = new Date(now + ACCESS_LIFETIME);
  await tx
    .insert(oauthTokens)
    .values({ hash: hashSecret(token), grantId, kind: "access", scopes, expiresAt });
  return {
    access_token: token,
    token_type: "Bearer" as const,
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
) {
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

/** Milliseconds for which a code is valid (RFC 6749, section 4.1.2: at most ten minutes). */
const CODE_LIFETIME = 60_000;

interface Consent extends Omit<AuthorizationRequest, "state"> {
  /** The project that the app is bound to; by default none. */
  readonly bound?: Bound | null;
  /** The only space that the app reaches, of which the person is a member; by default none. */
  readonly spaceId?: string | null;
}

/** A client's request for the tokens of a code. */
interface Redemption {
  readonly clientId: string;
  readonly code: string;
  readonly verifier: string;
  /** Null for a client of OAuth 2.1, which no longer sends it. */
  readonly redirectUri: string | null;
  readonly resource: string;
}

/** The store of authorization codes. */
export function createCodes({ db, grants, clock }: StoreParts & { grants: Grants }) {
  const tables = db.tables(createOAuthTables);
  const { orm } = db;
  const { oauthCodes, oauthGrants } = tables;
  const checkAccount = createAccountCheck(db);

  return {
    /**
     * Records the consent of an account. Returns the code for the client, which is stored as a hash only.
     * @throws AppError `forbidden` for a disabled account, whose grants have ended; `validation_failed`
     *   for a bad project name
     */
    async create(accountId: string, consent: Consent): Promise<string> {
      const now = clock();
      const { client, redirectUri, challenge, scopes, resource } = consent;
      const { bound = null, spaceId = null } = consent;
      const problem = boundProblem(bound);
      if (problem) throw new AppError("validation_failed", problem.message, { details: [problem] });
      await grants.prune();
      const code = createSecret("ctxc_");
      const expiresAt = new Date(now + CODE_LIFETIME);
      const grantId = createId("grant", now);
      await db.transaction(async (tx) => {
        await checkAccount(tx, accountId);
        await tx.insert(oauthGrants).values({
          id: grantId,
          accountId,
          clientId: client.id,
          clientName: client.name,
          redirectHost: describeRedirect(redirectUri),
          scopes,
          ...toBoundColumns(bound),
          spaceId,
          resource: inBoundForm(resource, { bound, spaceId }),
          mustSign: client.keys?.required ?? false,
          createdAt: new Date(now),
          expiresAt,
        });
        await tx
          .insert(oauthCodes)
          .values({ hash: hashSecret(code), grantId, redirectUri, challenge, expiresAt });
      });
      return code;
    },

    /** Withdraws the consent of a code that was not sent to anyone. */
    async withdraw(code: string): Promise<void> {
      const { grantId } = oauthCodes;
      const ofCode = orm.select({ grantId }).from(oauthCodes);
      const isIts = inArray(oauthGrants.id, ofCode.where(eq(oauthCodes.hash, hashSecret(code))));
      await orm.delete(oauthGrants).where(isIts);
    },

    /**
     * Exchanges a code for tokens, once. If a code is used twice, one of the users stole it: all of
     * its tokens are revoked (RFC 6749, section 4.1.2).
     * @throws OAuthError `invalid_grant` or `invalid_target`
     */
    async redeem(redemption: Redemption): Promise<TokenSet> {
      const { clientId, code, verifier, redirectUri, resource } = redemption;
      const now = clock();
      const byHash = eq(oauthCodes.hash, hashSecret(code));
      const outcome = await db.transaction(async (tx): Promise<TokenSet | OAuthError> => {
        const [row] = await tx
          .select({ code: oauthCodes, grant: oauthGrants })
          .from(oauthCodes)
          .innerJoin(oauthGrants, eq(oauthGrants.id, oauthCodes.grantId))
          .where(byHash);
        if (row?.grant.clientId !== clientId || row.grant.revokedAt !== null) return refused();
        if (row.code.usedAt !== null) {
          return new ReuseError(refused(), await grants.revokeWithin(tx, row.grant.id));
        }
        // A wrong guess does not use up the code: otherwise a thief could prevent the rightful exchange.
        if (row.code.expiresAt.getTime() <= now) return refused();
        if (redirectUri !== null && redirectUri !== row.code.redirectUri) return refused();
        if (!matchesChallenge(verifier, row.code.challenge)) return refused();
        if (!boundForms(resource).includes(row.grant.resource)) {
          return new OAuthError("invalid_target", "The code is for another resource.");
        }
        await tx
          .update(oauthCodes)
          .set({ usedAt: new Date(now) })
          .where(byHash);
        return await issueTokens(tx, tables, row.grant, row.grant.scopes, now);
      });
      if (outcome instanceof OAuthError) throw outcome;
      return outcome;
    },
  };
}

/** The same error for every reason: it tells a thief nothing. */
function refused(): OAuthError {
  return new OAuthError(
    "invalid_grant",
    "The code is unknown, used or expired, or it does not match this client, redirect_uri or code_verifier.",
  );
}
