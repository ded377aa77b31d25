import type { Accounts } from "../../accounts/accounts.ts";
import { hashSecret } from "../../db/id.ts";
import type { WebAuthn } from "../passkeys/webauthn.ts";
import type { Identities } from "../providers/provider-sign-in.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { SignedIn } from "../sessions/visitor.ts";
import type { SignIn } from "../sign-in.ts";
import type { Factors } from "./factors.ts";
import type { SecondFactor } from "./second-step.ts";

/** The ways in which a person can prove who they are. */
export type WaysToProve = Awaited<ReturnType<Proof["waysOf"]>>;

export type Proof = ReturnType<typeof createProof>;

/**
 * Asks signed-in people to prove again who they are. This protects actions whose effects outlast a
 * stolen session: keys, consents, exports, and other ways to sign in.
 */
export function createProof({
  accounts,
  factors,
  identities,
  sessions,
  signIn,
  webauthn,
  passwords,
}: {
  accounts: Pick<Accounts, "hasPassword">;
  factors: Factors;
  identities: Pick<Identities, "issuers">;
  sessions: Pick<Sessions, "isProved" | "prove">;
  signIn: SignIn;
  webauthn: WebAuthn;
  /** Whether passwords are accepted. */
  passwords: boolean;
}) {
  /** If there is a second factor, it is required: a thief may know the password too. */
  const waysOf = async (accountId: string) => {
    const hasFactor = await factors.isSetUp(accountId);
    return {
      password: passwords && !hasFactor && (await accounts.hasPassword(accountId)),
      passkey: webauthn.isAvailable && (await factors.passkeys.count(accountId)) > 0,
      app: await factors.oneTimeCodes.isSetUp(accountId),
      recoveryCode: hasFactor && (await factors.recoveryCodes.count(accountId)) > 0,
      provider: !hasFactor && (await identities.issuers(accountId)).length > 0,
    };
  };

  const isRight = async (
    { account: { id, email }, session }: SignedIn,
    answer: SecondFactor | { readonly password: string },
    address: string,
  ): Promise<boolean> => {
    const ways = await waysOf(id);
    if ("credential" in answer) {
      return (await webauthn.verify(session, "proof", answer.credential, id)) !== null;
    }
    // A counter of its own: wrong tries by others do not lock a signed-in person out.
    const browser = hashSecret(session);
    if ("code" in answer) return (await factors.useCode(id, answer.code, browser)) !== null;
    const { password } = answer;
    if (!ways.password) return false;
    return (await signIn.check({ email, password }, { address, browser })) !== null;
  };

  return {
    waysOf,

    /** Whether the person of a session gave a proof recently. */
    isFresh: ({ session }: Pick<SignedIn, "session">): Promise<boolean> =>
      sessions.isProved(session),

    /**
     * Checks a proof. Returns whether it is right.
     * @param address of the client
     * @throws AppError `rate_limited`
     */
    async check(
      person: SignedIn,
      answer: SecondFactor | { readonly password: string },
      address: string,
    ): Promise<boolean> {
      if (!(await isRight(person, answer, address))) return false;
      await sessions.prove(person.session);
      return true;
    },
  };
}
