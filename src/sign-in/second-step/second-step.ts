import { and, eq, gt, lte, sql } from "drizzle-orm";
import type { Accounts } from "../../accounts/accounts.ts";
import type { StoreParts } from "../../db/database.ts";
import { createSecret, hashSecret } from "../../db/id.ts";
import type { Cookies } from "../../pages/cookies.ts";
import type { WebAuthn } from "../passkeys/webauthn.ts";
import { SECOND_STEP_PATH } from "../paths.ts";
import {
  createConditionsCheck,
  type SessionConditions,
  type Sessions,
} from "../sessions/sessions.ts";
import type { Visitors } from "../sessions/visitor.ts";
import { createSignInTables } from "../tables.ts";
import type { Factors } from "./factors.ts";

/** Milliseconds that a person has for the second step. */
const PENDING_LIFETIME = 10 * 60_000;
/** Wrong answers after which the first step must be repeated. */
const TRIES = 5;

/** A sign-in whose first step is done. */
type PendingSignIn = NonNullable<Awaited<ReturnType<PendingSignIns["find"]>>>;

export type PendingSignIns = ReturnType<typeof createPendingSignIns>;

/** The store of sign-ins whose second step is due. A cookie of the browser has the secret of each. */
export function createPendingSignIns({ db, clock }: StoreParts) {
  const { orm } = db;
  const { pendingSignIns } = db.tables(createSignInTables);
  const checkConditions = createConditionsCheck({ db, clock });
  const { accountId, next, triesLeft } = pendingSignIns;
  const PENDING = { accountId, next, triesLeft };
  const byHash = (secret: string) =>
    and(
      eq(pendingSignIns.hash, hashSecret(secret)),
      gt(pendingSignIns.expiresAt, new Date(clock())),
    );

  const hasTry = gt(triesLeft, 0);

  return {
    /**
     * Begins a sign-in, and removes expired ones. Returns the secret for the cookie.
     * @param conditions conditions of the first step
     * @throws AppError `forbidden` when the account is disabled, or a condition no longer holds
     */
    async begin(
      accountId: string,
      next: string | null,
      conditions: SessionConditions = {},
    ): Promise<string> {
      const now = clock();
      const secret = createSecret("");
      const isOver = lte(pendingSignIns.expiresAt, new Date(now));
      await orm.delete(pendingSignIns).where(isOver);
      const expiresAt = new Date(now + PENDING_LIFETIME);
      const row = { hash: hashSecret(secret), accountId, next, triesLeft: TRIES, expiresAt };
      await db.transaction(async (tx) => {
        await checkConditions(tx, accountId, conditions);
        await tx.insert(pendingSignIns).values(row);
      });
      return secret;
    },

    /** The sign-in with a secret; null for an expired or ended one. */
    async find(secret: string) {
      const pending = orm.select(PENDING).from(pendingSignIns);
      const [found = null] = await pending.where(and(byHash(secret), hasTry));
      return found;
    },

    /** Takes a try before the answer is checked; null if none is left. */
    async take(secret: string) {
      const [taken = null] = await orm
        .update(pendingSignIns)
        .set({ triesLeft: sql`${triesLeft} - 1` })
        .where(and(byHash(secret), hasTry))
        .returning(PENDING);
      return taken;
    },

    async end(secret: string): Promise<void> {
      await orm.delete(pendingSignIns).where(byHash(secret));
    },

    async endAll(accountId: string): Promise<void> {
      await orm.delete(pendingSignIns).where(eq(pendingSignIns.accountId, accountId));
    },
  };
}

/** The redirect of a browser, and its headers. */
interface Arrival {
  readonly to: string;
  readonly setCookies: readonly string[];
  /** Whether a session has begun; otherwise the second step is due. */
  readonly isSignedIn: boolean;
}

type Beginning = Pick<PendingSignIn, "accountId" | "next">;

export type SecondFactor = { readonly code: string } | { readonly credential: string };

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
     * Continues after a right password or a provider's answer. An account without a second factor gets a session.
     * @throws AppError as `Sessions.begin`
     */
    async afterFirstStep(
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

    /** Begins a session after a sign-in with only a passkey or a recovery code. */
    beginSession: async (request: Request, beginning: Beginning): Promise<Arrival> =>
      (await welcome(request, beginning)).arrival,

    /**
     * Begins the session if the answer is right.
     * @returns whether it is, and by whose account. `expired`: the first step must be repeated; the account is null if
     *   there was no sign-in. `byRecovery`: the answer was a recovery code
     * @throws AppError `rate_limited`, as `OneTimeCodes.use`, or as `Sessions.begin`
     */
    async finish(request: Request, answer: SecondFactor) {
      const secret = cookies.read(request, "pending");
      const pending = secret === null ? null : await pendingSignIns.take(secret);
      if (secret === null || pending === null)
        return { status: "expired", accountId: null } as const;
      const { accountId, triesLeft } = pending;
      const isWrong = { status: triesLeft > 0 ? "wrong" : "expired", accountId } as const;
      const used =
        "code" in answer
          ? await factors.useCode(accountId, answer.code, await browserOf(request, accountId))
          : await webauthn.verify(secret, "second-step", answer.credential, accountId);
      if (used === null) return isWrong;
      // Only one of two simultaneous right answers begins a session.
      const { arrival } = await welcome(request, pending, { pending: secret });
      return { status: "right", accountId, arrival, byRecovery: used === "recovery" } as const;
    },
  };
}
