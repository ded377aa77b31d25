import { DISABLED } from "../accounts/accounts.ts";
import { findSpace, PERSONAL, type Space } from "../accounts/space.ts";
import { AppError } from "../errors.ts";
import { type Keys, keyFacts } from "../keys/keys.ts";
import { inSpace, type Reach, requireScope } from "../keys/reach.ts";
import { type Scope, SPACE_HEADER } from "../keys/scopes.ts";
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
) => Promise<(Omit<Principal, "via"> & Bindings & { isPaused: boolean }) | null>;

/** What the credential of a request is bound to besides a project. */
interface Bindings {
  /** The only space that it reaches; null for all memories of the person. */
  readonly spaceId: string | null;
}

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
  /** The account with this id, with its spaces, if it is enabled. */
  admit: (accountId: string) => Promise<{ spaces: readonly Space[] } | null>;
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

  const authenticate = async (request: Request): Promise<Principal & Partial<Bindings>> => {
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
      const { accountId, scopes, bound, spaceId, keyId: id, name: by } = key;
      return { accountId, scopes, bound, spaceId, via: "key", credential: { by, id } };
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
    const { spaceId = null, ...person } = await authenticate(request);
    const admitted = await admit(person.accountId);
    // People at the machine itself may export the memories of a disabled account.
    if (person.via !== "local" && !admitted) throw new AppError("forbidden", DISABLED);
    const { bound } = person;
    const reached = (admitted?.spaces ?? []).filter(
      (space) => bound === null || space.projects.includes(bound.project),
    );
    const principal = chooseSpace({ ...person, spaces: reached }, spaceId, askedSpace(request));
    if (scope !== undefined) requireScope(principal, scope);
    // Meanwhile a key may have been revoked.
    const hasWaited = await begin(request, person.accountId);
    return hasWaited ? authorize(request, scope) : principal;
  };
  return authorize;
}

/** The parameter that does the same as the header. */
const SPACE_PARAMETER = "space";

/** The space that a request names by a name or an id; null for the default. @throws AppError `malformed_request` */
function askedSpace({ headers, url }: Request): string | null {
  const asked = url.includes(`${SPACE_PARAMETER}=`)
    ? URL.parse(url)?.searchParams.get(SPACE_PARAMETER)
    : undefined;
  if (asked != null) return asked;
  const header = headers.get(SPACE_HEADER);
  try {
    return header && decodeURIComponent(header);
  } catch (cause) {
    throw new AppError("malformed_request", `${SPACE_HEADER} must be percent-encoded.`, { cause });
  }
}

/**
 * The memories that a request reaches: those of one space, the person's own, or by default the person's own with all
 * spaces to search in.
 * @param onlySpace the id of the space that the credential is bound to
 * @param wanted a space's name or id, or `personal`
 * @throws AppError `not_found` for a space of which the person is not a member, `forbidden` for a credential that is bound
 *   to another one
 */
export function chooseSpace<Caller extends Reach & { spaces: readonly Space[] }>(
  person: Caller,
  onlySpace: string | null,
  wanted: string | null,
): Caller {
  if (onlySpace === null) {
    if (wanted === null) return person;
    if (wanted === PERSONAL) return { ...person, space: null, spaces: [] };
    return inSpace(person, findSpace(person.spaces, wanted));
  }
  const own = person.spaces.find(({ id }) => id === onlySpace);
  if (own && (wanted === null || wanted === own.id || wanted === own.name)) {
    return inSpace(person, own);
  }
  throw new AppError("forbidden", "This key reaches the memories of one space, and no others.");
}

/** @throws AppError `forbidden` while a key or an app is paused */
function refusePaused({ isPaused }: { isPaused: boolean }, what: string): void {
  if (!isPaused) return;
  const message = `This ${what} is paused. Its owner can resume it in the dashboard, on the page Agents.`;
  throw new AppError("forbidden", message);
}
