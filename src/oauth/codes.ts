import { eq, inArray } from "drizzle-orm";
import { createAccountCheck } from "../accounts/account-check.ts";
import type { Database } from "../db/database.ts";
import { createId } from "../db/id.ts";
import { createSecret, hashSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";
import {
  boundProblem,
  inBoundForm,
  matchesResource,
  toBoundColumns,
} from "../keys/project-bound.ts";
import type { Bound } from "../keys/reach.ts";
import type { Scope } from "../keys/scopes.ts";
import type { Client } from "./client.ts";
import { type Grants, grantOf } from "./grants.ts";
import { OAuthError, ReuseError } from "./oauth-error.ts";
import { matchesChallenge } from "./pkce.ts";
import { describeRedirect } from "./redirect-uri.ts";
import { createOAuthTables } from "./tables.ts";
import { issueTokens, type TokenSet } from "./token-set.ts";

/** Milliseconds for which a code is valid (RFC 6749, section 4.1.2: at most ten minutes). */
const CODE_LIFETIME = 60_000;

/** A person's consent. */
interface Consent {
  readonly client: Client;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly scopes: readonly Scope[];
  /** The project that the app is bound to; by default none. */
  readonly bound?: Bound | null;
  readonly resource: string;
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

export type Codes = ReturnType<typeof createCodes>;

/** The store of authorization codes. `clock` gives milliseconds since 1970. */
export function createCodes({
  db,
  grants,
  clock,
}: {
  db: Database;
  grants: Grants;
  clock: () => number;
}) {
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
      const { client, redirectUri, challenge, scopes, bound = null, resource } = consent;
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
          resource: bound ? inBoundForm(resource) : resource,
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
          .select({ code: oauthCodes, grant: grantOf(tables), resource: oauthGrants.resource })
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
        if (!matchesResource(row.resource, resource)) {
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
