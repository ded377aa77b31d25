import { DISABLED } from "../accounts/accounts.ts";
import { AppError } from "../errors.ts";
import { type Keys, keyFacts } from "../keys/keys.ts";
import { type Reach, requireScope } from "../keys/reach.ts";
import type { Scope } from "../keys/scopes.ts";
import type { RecordEvent } from "./record-event.ts";

/** The sender of a request. Every request that uses memories has a principal or is refused. */
export type Principal = Reach &
  Required<Pick<Reach, "scopes" | "via" | "credential">> & {
    /** The host of the app's redirect address when the person gave consent. */
    readonly app?: string;
  };

/** Returns the holder of an OAuth access token; null for an invalid one. */
type AuthenticateToken = (
  token: string,
) => Promise<(Omit<Principal, "via"> & { isPaused: boolean }) | null>;

/**
 * Returns the sender of a request, and checks that it has `scope`. The result holds at this moment:
 * long work must check again.
 * @throws AppError `unauthorized` or `forbidden`
 */
export type Authorize = (request: Request, scope?: Scope) => Promise<Principal>;

/** A sender whose work ends when it has gone, instead of occupying the server for nobody. */
export function givenUp(principal: Principal, { signal }: Request): Principal {
  return { ...principal, signal };
}

const BEARER = /^Bearer +(\S+) *$/i;

/**
 * The only place that turns a request into a principal. Tokens in the query string are ignored.
 * @param tokens OAuth access tokens
 * @param count receives a name for the key, or for the account of a token or session, and may refuse
 * @param local returns the sender of a request without a token, if it used the local socket
 * @param session the same for a session cookie
 */
export function createAuthorize({
  keys,
  tokens = { authenticate: async () => null },
  local = () => null,
  count = () => {},
  session = async () => null,
  record = () => {},
  admit,
  begin = async () => false,
}: {
  keys: Pick<Keys, "authenticate" | "findRefused">;
  tokens?: { authenticate: AuthenticateToken } | undefined;
  local?: ((request: Request) => Principal | null) | undefined;
  count?: (request: Request, holder: string) => void;
  session?: ((request: Request) => Promise<Principal | null>) | undefined;
  record?: RecordEvent;
  /** The account with this id, if it is enabled. */
  admit: (accountId: string) => Promise<unknown>;
  /** Waits until a request of this account may begin; see `Turns`. @returns whether it had to wait */
  begin?: (request: Request, accountId: string) => Promise<boolean>;
}): Authorize {
  // A request may be authorized several times, but counts once.
  const counted = new WeakSet<Request>();
  const countOnce = (request: Request, holder: string) => {
    if (counted.has(request)) return;
    counted.add(request);
    count(request, holder);
  };

  const authenticate = async (request: Request): Promise<Principal> => {
    const header = request.headers.get("authorization");
    if (header === null) {
      const atMachine = local(request);
      if (atMachine) return atMachine;
      const signedIn = await session(request);
      if (signedIn) {
        countOnce(request, signedIn.accountId);
        return signedIn;
      }
      throw new AppError(
        "unauthorized",
        "An API key is needed: send it as `Authorization: Bearer ctx_…`.",
      );
    }
    const token = BEARER.exec(header)?.[1];
    if (token === undefined) {
      throw new AppError(
        "unauthorized",
        "The Authorization header is malformed: send `Authorization: Bearer ctx_…`.",
      );
    }
    const key = await keys.authenticate(token);
    if (key) {
      countOnce(request, key.keyId);
      refusePaused(key, "API key");
      const { accountId, scopes, bound, keyId: id, name: by } = key;
      return { accountId, scopes, bound, via: "key", credential: { by, id } };
    }
    const holder = await tokens.authenticate(token);
    if (!holder) {
      const refused = await keys.findRefused(token);
      if (refused) record(request, "key_refused", keyFacts(refused));
      throw new AppError("unauthorized", "The API key or token is unknown, revoked or expired.", {
        challenge: "invalid_token",
      });
    }
    const { isPaused, ...app } = holder;
    countOnce(request, app.accountId);
    refusePaused({ isPaused }, "app");
    return { ...app, via: "token" };
  };

  const authorize: Authorize = async (request, scope) => {
    const principal = await authenticate(request);
    // People at the machine itself may export the memories of a disabled account.
    if (principal.via !== "local" && !(await admit(principal.accountId)))
      throw new AppError("forbidden", DISABLED);
    if (scope !== undefined) requireScope(principal, scope);
    // Meanwhile a key may have been revoked.
    const hasWaited = await begin(request, principal.accountId);
    return hasWaited ? authorize(request, scope) : principal;
  };
  return authorize;
}

/** @throws AppError `forbidden` while a key or an app is paused */
function refusePaused({ isPaused }: { isPaused: boolean }, what: string): void {
  if (!isPaused) return;
  const message = `This ${what} is paused. Its owner can resume it in the dashboard, on the page Agents.`;
  throw new AppError("forbidden", message);
}
