import type { Accounts } from "../accounts/accounts.ts";
import { parseEmail } from "../accounts/email.ts";
import type { Invitations } from "../accounts/invitations.ts";
import type { Config } from "../config.ts";
import type { Ephemeral } from "../db/ephemeral.ts";
import { createSecret, hashSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";
import type { Factors } from "./factors.ts";
import type { Identities } from "./identities.ts";
import type { Identity, Proofs, Provider } from "./provider.ts";
import { createProofs } from "./provider-client.ts";

/** How long a person may take at a provider, in milliseconds. */
const LIFETIME = 10 * 60_000;

/** Why somebody is sent to a provider. */
interface Purpose {
  /** Where to go on, a path of ours. */
  readonly next: string | null;
  /** The secret of an invitation that they hold. */
  readonly invitation: string | null;
  /** The account that is to be signed in to through this provider too. */
  readonly linkTo: string | null;
}

interface Pending extends Purpose {
  readonly providerId: string;
  readonly proofs: Proofs;
  /** SHA-256 of what the browser that was sent is known by. */
  readonly browser: string;
}

/** Whose account an identity signs in to, and whether it was made for that. */
interface Arrival {
  readonly accountId: string;
  readonly isNew?: boolean;
  /** Of the invitation that it has used up. */
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
   * The account that an identity signs in to. One that is not known yet becomes that of
   * - the account with its address, which the provider has verified; unless that has a password or a
   *   passkey and may be of somebody who has claimed the address before, by an invitation or where anyone may
   *   sign up;
   * - a new account, by an invitation or where anyone may sign up.
   */
  const accountOf = async (identity: Identity, invitation: string | null): Promise<Arrival> => {
    const known = await identities.findAccount(identity);
    if (known !== null) return { accountId: known };
    if (identity.email === null) {
      throw new AppError("forbidden", "The provider has not verified an e-mail address of yours.");
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
          "An account with your address has a password or a passkey: sign in with that, then connect the provider on the page Account.",
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
     * Where to send a person.
     * @param browser what the answer's browser has to be known by
     * @throws AppError `not_found` for a provider that is not set up, or as `Provider.start`
     */
    async start(id: string, browser: string, purpose: Purpose): Promise<URL> {
      const provider = providers.find((each) => each.id === id);
      if (!provider) throw new AppError("not_found", "This provider is not set up.");
      const proofs = createProofs();
      const state = createSecret("");
      const url = await provider.start(state, proofs);
      const { next, invitation, linkTo } = purpose;
      const pending: Pending = {
        ...{ next, invitation, linkTo, proofs },
        ...{ providerId: id, browser: hashSecret(browser) },
      };
      await ephemeral.put(nameOf(state), JSON.stringify(pending), LIFETIME);
      return url;
    },

    /**
     * Whom the answer of a provider is for, and where they go on.
     * @param browsers tells all that the browser can be known by at that moment
     * @throws AppError `forbidden` for an answer that was not asked for, as `Provider.finish`, and
     * when there is no account for this person
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
      // The provider may have answered slowly: who is signed out meanwhile connects nothing.
      if (!(await isTheirs())) throw expired();
      const { linkTo, next, invitation } = wanted;
      const arrival =
        linkTo === null ? await accountOf(identity, invitation) : { accountId: linkTo };
      await identities.link(arrival.accountId, identity);
      return { ...arrival, next, isLinked: linkTo !== null, provider };
    },
  };
}

function expired(): AppError {
  return new AppError("forbidden", "This sign-in has expired, or began elsewhere. Try again.");
}
