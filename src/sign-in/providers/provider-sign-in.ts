import { generateCodeVerifier, generateState } from "arctic";
import { and, asc, eq } from "drizzle-orm";
import { parseEmail } from "../../accounts/account.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import type { Invitations } from "../../accounts/invitations.ts";
import type { Config } from "../../config/config.ts";
import type { Orm, StoreParts } from "../../db/database.ts";
import type { Ephemeral } from "../../db/ephemeral.ts";
import { hashSecret } from "../../db/id.ts";
import { AppError } from "../../errors.ts";
import type { Factors } from "../second-step/factors.ts";
import { createSignInTables } from "../tables.ts";
import type { Identity, Provider, ProviderSecrets } from "./provider.ts";

type Known = Pick<Identity, "issuer" | "subject">;

export type Identities = ReturnType<typeof createIdentities>;

/** The store of the identities that providers know people by. */
export function createIdentities({ db, clock }: StoreParts) {
  const { orm } = db;
  const { identities } = db.tables(createSignInTables);
  const isThis = ({ issuer, subject }: Known) =>
    and(eq(identities.issuer, issuer), eq(identities.subject, subject));

  const findAccount = async (identity: Known, tx: Orm = orm): Promise<string | null> => {
    const known = tx.select({ accountId: identities.accountId }).from(identities);
    const [row] = await known.where(isThis(identity));
    return row?.accountId ?? null;
  };

  const issuersOf = async (accountId: string, tx: Orm = orm): Promise<string[]> => {
    const rows = await tx
      .select({ issuer: identities.issuer })
      .from(identities)
      .where(eq(identities.accountId, accountId))
      .orderBy(asc(identities.createdAt), asc(identities.issuer));
    return rows.map(({ issuer }) => issuer);
  };

  return {
    /** The account that an identity signs in to; null for none. */
    findAccount,

    /**
     * Connects an identity with an account, so that it can sign in.
     * @param byAddress whether they belong together only by the e-mail address. A provider may give an
     *   address to another person later (OpenID Connect Core 1.0, section 5.7), so the account must not be
     *   connected with this issuer yet.
     * @throws AppError `conflict` when the identity is connected with another account, `forbidden` when the
     *   account has another identity of the issuer
     */
    link: (accountId: string, { issuer, subject }: Known, { byAddress = false } = {}) =>
      db.transaction(async (tx) => {
        const known = await findAccount({ issuer, subject }, tx);
        if (known === accountId) return;
        if (known !== null) {
          throw new AppError(
            "conflict",
            "This identity signs in to another account of this server.",
          );
        }
        if (byAddress && (await issuersOf(accountId, tx)).includes(issuer)) {
          throw new AppError(
            "forbidden",
            "An account with your address signs in as another user of this provider. Sign in as that user or in another way, then connect this one on the page Account.",
          );
        }
        await tx
          .insert(identities)
          .values({ issuer, subject, accountId, createdAt: new Date(clock()) });
      }),

    /** The issuers that an account is connected with, oldest first. */
    issuers: issuersOf,

    async unlink(accountId: string, issuer: string, tx: Orm = orm): Promise<void> {
      await tx
        .delete(identities)
        .where(and(eq(identities.accountId, accountId), eq(identities.issuer, issuer)));
    },
  };
}

/** Milliseconds that a person may take at a provider. */
const LIFETIME = 10 * 60_000;

/** Why a person is sent to a provider. */
interface Purpose {
  /** The path on this server to redirect to afterwards. */
  readonly next: string | null;
  /** The secret of the person's invitation. */
  readonly invitation: string | null;
  /** The account to connect with this provider. */
  readonly linkTo: string | null;
}

interface Pending extends Purpose {
  readonly providerId: string;
  readonly proofs: ProviderSecrets;
  /** SHA-256 of the browser's token. */
  readonly browser: string;
}

/** The account that an identity signs in to, and whether it is new. */
interface Arrival {
  readonly accountId: string;
  readonly isNew?: boolean;
  /** The invitation that it used up. */
  readonly invitationId?: string;
}

export type ProviderSignIn = ReturnType<typeof createProviderSignIn>;

/** Signs people in through providers. */
export function createProviderSignIn({
  providers,
  accounts,
  identities,
  factors,
  invitations,
  registration,
  ephemeral,
}: {
  providers: readonly Provider[];
  accounts: Pick<
    Accounts,
    "prepareMember" | "addMember" | "findByEmail" | "hasPassword" | "isSetUp"
  >;
  identities: Pick<Identities, "findAccount" | "link">;
  factors: Pick<Factors, "isSetUp">;
  invitations: Pick<Invitations, "use">;
  registration: Config["registration"];
  ephemeral: Pick<Ephemeral, "put" | "take">;
}) {
  const nameOf = (state: string) => `sign-in with a provider ${state}`;

  /**
   * The account that an identity signs in to. An unknown identity is connected with
   * - the account with its verified address. This is refused if the account has a password or passkey, and somebody
   *   else may have registered the address, by an invitation or where registration is open;
   * - otherwise a new account, by an invitation or where registration is open.
   */
  const accountOf = async (identity: Identity, invitation: string | null): Promise<Arrival> => {
    const known = await identities.findAccount(identity);
    if (known !== null) return { accountId: known };
    if (identity.email === null) {
      throw new AppError("forbidden", "The provider has not verified your e-mail address.");
    }
    const email = parseEmail(identity.email);
    const account = await accounts.findByEmail(email);
    if (account) {
      const isClaimable = registration === "open" || account.role === "member";
      const isClosed =
        (await accounts.hasPassword(account.id)) || (await factors.isSetUp(account.id));
      if (isClaimable && isClosed) {
        throw new AppError(
          "forbidden",
          "An account with your address has a password or a passkey: sign in with it, then connect the provider on the page Account.",
        );
      }
      return { accountId: account.id };
    }
    const wanted = { email, password: null };
    if (invitation !== null) {
      const make = await accounts.prepareMember(wanted);
      return invitations.use(invitation, async (tx, found) => {
        if (found.email === null || found.email === email) {
          return { accountId: (await make(tx)).id, isNew: true, invitationId: found.id };
        }
        throw new AppError("forbidden", "The invitation is for another e-mail address.");
      });
    }
    if (registration !== "open") {
      throw new AppError(
        "forbidden",
        "No account here has your e-mail address: ask the owner of this server for an invitation.",
      );
    }
    return { accountId: (await accounts.addMember(wanted)).id, isNew: true };
  };

  return {
    providers,

    /**
     * The address that a person is redirected to.
     * @param browser the token by which the browser of the answer must be known
     * @throws AppError `not_found` for a provider that is not set up, or as `Provider.start`
     */
    async start(id: string, browser: string, purpose: Purpose): Promise<URL> {
      const provider = providers.find((each) => each.id === id);
      if (!provider) throw new AppError("not_found", "This provider is not set up.");
      const state = generateState();
      const proofs: ProviderSecrets = { verifier: generateCodeVerifier(), nonce: generateState() };
      const url = await provider.start(state, proofs);
      const pending: Pending = { ...purpose, proofs, providerId: id, browser: hashSecret(browser) };
      await ephemeral.put(nameOf(state), JSON.stringify(pending), LIFETIME);
      return url;
    },

    /**
     * Signs in the person of a provider's answer.
     * @param browsers returns the tokens by which the browser is known at that moment
     * @throws AppError `forbidden` for an unexpected answer and for a person without an account, or as
     *   `Provider.finish`
     */
    async finish(
      id: string,
      browsers: () => Promise<readonly string[]>,
      answer: URLSearchParams,
    ): Promise<Arrival & { next: string | null; isLinked: boolean; provider: Provider }> {
      const begun = await ephemeral.take(nameOf(answer.get("state") ?? ""));
      const wanted: Pending | null = begun === null ? null : JSON.parse(begun);
      const provider = providers.find((each) => each.id === wanted?.providerId);
      const isTheirs = async () =>
        (await browsers()).some((each) => hashSecret(each) === wanted?.browser);
      if (!wanted || provider?.id !== id || !(await isTheirs())) throw expired();
      if (!answer.has("code")) throw new AppError("forbidden", "The provider did not sign you in.");
      if (!(await accounts.isSetUp()))
        throw new AppError("forbidden", "This server has no owner yet.");
      const identity = await provider.finish(answer, wanted.proofs);
      // The provider may have been slow: a person who was signed out in the meantime connects nothing.
      if (!(await isTheirs())) throw expired();
      const { linkTo, next, invitation } = wanted;
      const arrival =
        linkTo === null ? await accountOf(identity, invitation) : { accountId: linkTo };
      await identities.link(arrival.accountId, identity, { byAddress: linkTo === null });
      return { ...arrival, next, isLinked: linkTo !== null, provider };
    },
  };
}

function expired(): AppError {
  return new AppError("forbidden", "This sign-in has expired, or began elsewhere. Try again.");
}
