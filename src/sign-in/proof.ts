import type { Accounts } from "../accounts/accounts.ts";
import { hashSecret } from "../db/secret.ts";
import type { Factors } from "./factors.ts";
import type { Identities } from "./identities.ts";
import type { Answer } from "./second-step.ts";
import type { Sessions } from "./sessions.ts";
import type { SignIn } from "./sign-in.ts";
import type { SignedIn } from "./visitor.ts";
import type { WebAuthn } from "./webauthn.ts";

/** What a person can prove with who they are. */
export interface WaysToProve {
  readonly password: boolean;
  readonly passkey: boolean;
  /** A code of an app. */
  readonly app: boolean;
  readonly recoveryCode: boolean;
  /** Signing in again through a provider. */
  readonly provider: boolean;
}

export type Proof = ReturnType<typeof createProof>;

/**
 * Asks people who are signed in to prove again who they are, before what would outlast a stolen
 * session: keys, consents, exports, and other ways to sign in.
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
  /** Whether passwords are taken at all. */
  passwords: boolean;
}) {
  /** Where there is a second factor, it is what is asked for: the password may be the thief's too. */
  const waysOf = async (accountId: string): Promise<WaysToProve> => {
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
    answer: Answer | { readonly password: string },
    address: string,
  ): Promise<boolean> => {
    const ways = await waysOf(id);
    if ("credential" in answer) {
      return (await webauthn.verify(session, "proof", answer.credential, id)) !== null;
    }
    // Of its own: nobody else's wrong tries keep who is signed in from a proof.
    const browser = hashSecret(session);
    if ("code" in answer) return (await factors.useCode(id, answer.code, browser)) !== null;
    const { password } = answer;
    if (!ways.password) return false;
    return (await signIn.check({ email, password }, { address, browser })) !== null;
  };

  return {
    waysOf,

    /** Whether a session's person has proved who they are a moment ago. */
    isFresh: ({ session }: Pick<SignedIn, "session">): Promise<boolean> =>
      sessions.isProved(session),

    /**
     * Takes a proof. Returns whether it is right.
     * @param address where the request comes from
     * @throws AppError `rate_limited`
     */
    async give(
      person: SignedIn,
      answer: Answer | { readonly password: string },
      address: string,
    ): Promise<boolean> {
      if (!(await isRight(person, answer, address))) return false;
      await sessions.prove(person.session);
      return true;
    },
  };
}
