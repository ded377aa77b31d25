import type { Account } from "../../accounts/account.ts";
import type { Space } from "../../accounts/space.ts";
import type { Spaces } from "../../accounts/spaces.ts";
import { type Cookies, formToken } from "../../pages/cookies.ts";
import { DEVICE_LIFETIME, type Devices } from "./devices.ts";
import { SESSION_LIFETIME, type SessionConditions, type Sessions } from "./sessions.ts";

/** A signed-in person, with the token for their forms. */
export interface SignedIn {
  readonly account: Account;
  /** The spaces that the person may open. */
  readonly spaces: readonly Space[];
  /** The session's secret. */
  readonly session: string;
  readonly token: string;
}

/** A session that has just begun. */
export type Welcome = Awaited<ReturnType<Visitors["welcome"]>>;

export type Visitors = ReturnType<typeof createVisitors>;

/** Identifies the person at the browser of a request. */
export function createVisitors({
  cookies,
  sessions,
  devices,
  spaces: { admit },
  takeTurn,
}: {
  cookies: Cookies;
  sessions: Sessions;
  devices: Devices;
  spaces: Pick<Spaces, "admit">;
  /** Waits until a request of this account may begin; see `Turns`. @returns whether it had to wait */
  takeTurn: (request: Request, accountId: string) => Promise<boolean>;
}) {
  /** The `Set-Cookie` header that makes the browser known at an account. */
  const remember = async (request: Request, accountId: string): Promise<string> =>
    cookies.set(
      "device",
      await devices.remember(accountId, cookies.read(request, "device")),
      DEVICE_LIFETIME,
    );

  const find = async (request: Request): Promise<SignedIn | null> => {
    const session = cookies.read(request, "session");
    const accountId = session === null ? null : await sessions.findAccount(session);
    const admitted = accountId === null ? null : await admit(accountId);
    if (session === null || admitted === null) return null;
    const { spaces, ...account } = admitted;
    // Meanwhile the session may have ended.
    const hasWaited = await takeTurn(request, account.id);
    return hasWaited ? find(request) : { account, spaces, session, token: formToken(session) };
  };

  return {
    /** The signed-in person; null for nobody. */
    find,

    /**
     * Signs a person in and ends the previous session. Every way to sign in ends here.
     * @returns the secret of the new session, and the headers that set the browser's cookies
     * @throws AppError as `Sessions.begin`
     */
    async welcome(request: Request, accountId: string, conditions?: SessionConditions) {
      const browser = request.headers.get("user-agent") ?? "";
      const session = await sessions.begin(accountId, browser, conditions);
      const old = cookies.read(request, "session");
      if (old !== null) await sessions.end(old);
      const setCookies = [
        cookies.set("session", session, SESSION_LIFETIME),
        cookies.clear("visit"),
        await remember(request, accountId),
      ];
      return { session, setCookies };
    },

    remember,

    /**
     * The name of a browser in which somebody has signed in to this account before; null for others.
     * @param since as in `Devices.recognise`
     */
    recognise: (request: Request, email: string, since?: number): Promise<string | null> =>
      devices.recognise(email, cookies.read(request, "device"), since),
  };
}
