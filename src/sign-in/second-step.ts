import type { Accounts } from "../accounts/accounts.ts";
import type { Cookies } from "./cookies.ts";
import type { Factors } from "./factors.ts";
import { SECOND_STEP_PATH } from "./paths.ts";
import { PENDING_LIFETIME, type PendingSignIn, type PendingSignIns } from "./pending-sign-ins.ts";
import type { Visitors } from "./visitor.ts";
import type { WebAuthn } from "./webauthn.ts";

/** Where a browser goes on, and headers for it. */
export interface Arrival {
  readonly to: string;
  readonly setCookies: readonly string[];
  /** Whether a session has begun; else the second step is to come. */
  readonly isSignedIn: boolean;
}

type Beginning = Pick<PendingSignIn, "accountId" | "next">;

/** What somebody shows as the second factor. */
export type Answer = { readonly code: string } | { readonly credential: string };

/**
 * What an answer has led to. `over`: the first step has to be done again; `accountId` is that of a
 * wrong answer, null where there was nothing to answer.
 */
export type SecondStepOutcome =
  | { readonly is: "wrong"; readonly accountId: string }
  | { readonly is: "over"; readonly accountId: string | null }
  | {
      readonly is: "right";
      readonly accountId: string;
      readonly arrival: Arrival;
      /** Whether it was a recovery code. */
      readonly byRecovery: boolean;
    };

export type SecondStep = ReturnType<typeof createSecondStep>;

/** What follows the first step of a sign-in: a session, or the question for a second factor first. */
export function createSecondStep({
  cookies,
  accounts,
  visitors,
  factors,
  pendingSignIns,
  webauthn,
}: {
  cookies: Cookies;
  accounts: Pick<Accounts, "find">;
  visitors: Visitors;
  factors: Pick<Factors, "isSetUp" | "useCode" | "oneTimeCodes">;
  pendingSignIns: PendingSignIns;
  webauthn: WebAuthn;
}) {
  /** Begins the session. */
  const welcome = async (request: Request, { accountId, next }: Beginning): Promise<Arrival> => {
    const { setCookies } = await visitors.welcome(request, accountId);
    const isOver = cookies.read(request, "pending") === null ? [] : [cookies.clear("pending")];
    return { to: next ?? "/", setCookies: [...setCookies, ...isOver], isSignedIn: true };
  };

  /** Who had the password before there were codes may have made browsers known, each with tries. */
  const browserOf = async (request: Request, accountId: string): Promise<string | null> => {
    const since = (await factors.oneTimeCodes.setUpAt(accountId))?.getTime() ?? 0;
    return visitors.recognise(request, (await accounts.find(accountId))?.email ?? "", since);
  };

  /** The sign-in that a browser has begun, and the secret of its cookie; null for none. */
  const find = async (request: Request): Promise<(PendingSignIn & { secret: string }) | null> => {
    const secret = cookies.read(request, "pending");
    const pending = secret === null ? null : await pendingSignIns.find(secret);
    return secret === null || pending === null ? null : { ...pending, secret };
  };

  return {
    find,

    /**
     * Goes on after a password that was right, or a provider's word. Without a second factor of the
     * account that begins a session.
     */
    async arrive(request: Request, beginning: Beginning): Promise<Arrival> {
      const { accountId, next } = beginning;
      if (!(await factors.isSetUp(accountId))) return welcome(request, beginning);
      const old = cookies.read(request, "pending");
      if (old !== null) await pendingSignIns.end(old);
      const secret = await pendingSignIns.begin(accountId, next);
      const setCookies = [cookies.set("pending", secret, PENDING_LIFETIME)];
      return { to: SECOND_STEP_PATH, setCookies, isSignedIn: false };
    },

    /** Begins a session of who has signed in with nothing but a passkey, which is two factors in one. */
    arriveAlone: welcome,

    /**
     * Begins the session if the answer is right.
     * @throws AppError `rate_limited`, as `OneTimeCodes.use`
     */
    async finish(request: Request, answer: Answer): Promise<SecondStepOutcome> {
      const secret = cookies.read(request, "pending");
      const pending = secret === null ? null : await pendingSignIns.take(secret);
      if (secret === null || pending === null) return { is: "over", accountId: null };
      const { accountId, triesLeft } = pending;
      const isWrong = { is: triesLeft > 0 ? "wrong" : "over", accountId } as const;
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
      // Of two right answers at once, one begins a session.
      if (!(await pendingSignIns.end(secret))) return { is: "over", accountId: null };
      return { is: "right", accountId, arrival: await welcome(request, pending), byRecovery };
    },
  };
}
