import type { Accounts } from "../../accounts/accounts.ts";
import type { WebAuthn } from "../passkeys/webauthn.ts";
import { SECOND_STEP_PATH } from "../paths.ts";
import type { Cookies } from "../sessions/form-token.ts";
import {
  PENDING_LIFETIME,
  type PendingSignIn,
  type PendingSignIns,
} from "../sessions/pending-sign-ins.ts";
import type { SessionConditions, Sessions } from "../sessions/sessions.ts";
import type { Visitors } from "../sessions/visitor.ts";
import type { Factors } from "./factors.ts";

/** The redirect of a browser, and its headers. */
export interface Arrival {
  readonly to: string;
  readonly setCookies: readonly string[];
  /** Whether a session has begun; otherwise the second step is due. */
  readonly isSignedIn: boolean;
}

type Beginning = Pick<PendingSignIn, "accountId" | "next">;

/** A second factor. */
export type Answer = { readonly code: string } | { readonly credential: string };

/**
 * The result of an answer. `expired`: the first step must be repeated; `accountId` is the account of a
 * wrong answer, or null if there was no sign-in.
 */
type SecondStepOutcome =
  | { readonly is: "wrong"; readonly accountId: string }
  | { readonly is: "expired"; readonly accountId: string | null }
  | {
      readonly is: "right";
      readonly accountId: string;
      readonly arrival: Arrival;
      /** Whether it was a recovery code. */
      readonly byRecovery: boolean;
    };

export type SecondStep = ReturnType<typeof createSecondStep>;

/** What follows the first step of a sign-in: a session, or the second step. */
export function createSecondStep({
  cookies,
  accounts,
  sessions,
  visitors,
  factors,
  pendingSignIns,
  webauthn,
}: {
  cookies: Cookies;
  accounts: Pick<Accounts, "find">;
  sessions: Pick<Sessions, "end">;
  visitors: Visitors;
  factors: Pick<Factors, "isSetUp" | "useCode" | "oneTimeCodes">;
  pendingSignIns: PendingSignIns;
  webauthn: WebAuthn;
}) {
  /** Begins the session. */
  const welcome = async (
    request: Request,
    { accountId, next }: Beginning,
    conditions: SessionConditions = {},
  ) => {
    const { session, setCookies } = await visitors.welcome(request, accountId, conditions);
    const isOver = cookies.read(request, "pending") === null ? [] : [cookies.clear("pending")];
    const arrival = { to: next ?? "/", setCookies: [...setCookies, ...isOver], isSignedIn: true };
    return { session, arrival };
  };

  /**
   * Browsers that were remembered before codes were set up do not count: a thief of the password may
   * have used them to get more tries.
   */
  const browserOf = async (request: Request, accountId: string): Promise<string | null> => {
    const since = (await factors.oneTimeCodes.setUpAt(accountId))?.getTime() ?? 0;
    return visitors.recognise(request, (await accounts.find(accountId))?.email ?? "", since);
  };

  /** The pending sign-in of a browser, and the secret of its cookie; null for none. */
  const find = async (request: Request): Promise<(PendingSignIn & { secret: string }) | null> => {
    const secret = cookies.read(request, "pending");
    const pending = secret === null ? null : await pendingSignIns.find(secret);
    return secret === null || pending === null ? null : { ...pending, secret };
  };

  return {
    find,

    /**
     * Continues after a right password or a provider's answer. An account without a second factor gets
     * a session.
     * @throws AppError as `Sessions.begin`
     */
    async arrive(
      request: Request,
      beginning: Beginning,
      conditions: SessionConditions = {},
    ): Promise<Arrival> {
      const { accountId, next } = beginning;
      if (!(await factors.isSetUp(accountId))) {
        const { session, arrival } = await welcome(request, beginning, conditions);
        if (!(await factors.isSetUp(accountId))) return arrival;
        // A second factor was set up in the meantime, which has ended earlier sessions.
        await sessions.end(session);
      }
      const old = cookies.read(request, "pending");
      if (old !== null) await pendingSignIns.end(old);
      const secret = await pendingSignIns.begin(accountId, next, conditions);
      const setCookies = [cookies.set("pending", secret, PENDING_LIFETIME)];
      return { to: SECOND_STEP_PATH, setCookies, isSignedIn: false };
    },

    /** Begins a session after a sign-in with only a passkey, which is two factors in one. */
    completeWithPasskey: async (request: Request, beginning: Beginning): Promise<Arrival> =>
      (await welcome(request, beginning)).arrival,

    /**
     * Begins the session if the answer is right.
     * @throws AppError `rate_limited`, as `OneTimeCodes.use`, or as `Sessions.begin`
     */
    async finish(request: Request, answer: Answer): Promise<SecondStepOutcome> {
      const secret = cookies.read(request, "pending");
      const pending = secret === null ? null : await pendingSignIns.take(secret);
      if (secret === null || pending === null) return { is: "expired", accountId: null };
      const { accountId, triesLeft } = pending;
      const isWrong = { is: triesLeft > 0 ? "wrong" : "expired", accountId } as const;
      let byRecovery = false;
      if ("code" in answer) {
        const used = await factors.useCode(
          accountId,
          answer.code,
          await browserOf(request, accountId),
        );
        if (used === null) return isWrong;
        byRecovery = used === "recovery";
      } else {
        const owner = await webauthn.verify(secret, "second-step", answer.credential, accountId);
        if (owner === null) return isWrong;
      }
      // Only one of two simultaneous right answers begins a session.
      const { arrival } = await welcome(request, pending, { pending: secret });
      return { is: "right", accountId, arrival, byRecovery };
    },
  };
}
