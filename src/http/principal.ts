import { DISABLED } from "../accounts/accounts.ts";
import { AppError } from "../errors.ts";
import { type Keys, keyFacts } from "../keys/keys.ts";
import type { Credential, Reach } from "../keys/reach.ts";
import { allows, type Scope } from "../keys/scopes.ts";
import type { RecordEvent } from "./record-event.ts";

/** Who is asking. Every request that touches memories becomes one of these, or is refused. */
export interface Principal extends Reach {
  readonly scopes: readonly Scope[];
  /** The way in. */
  readonly via: "key" | "token" | "session" | "local";
  readonly credential: Credential;
  /** Host that the app of a token was answered at when a person allowed it. */
  readonly app?: string;
}

/** Tells whom an OAuth access token speaks for; null for one that does not hold here. */
type AuthenticateToken = (token: string) => Promise<Omit<Principal, "via"> | null>;

/**
 * Tells who sent a request and, with `scope`, that they may do what it names. Says what holds at this
 * moment: whoever does something for long asks again on the way.
 * @throws AppError `unauthorized` or `forbidden`
 */
export type Authorize = (request: Request, scope?: Scope) => Promise<Principal>;

const BEARER = /^Bearer +(\S+) *$/i;

/**
 * The one place where a request becomes a principal. A token in the query string is not read.
 * @param tokens OAuth access tokens
 * @param count is told the name of the key, or of the account that a token or session is of; may refuse
 * @param local who is behind a request without a token, where the way it came tells
 * @param session the same, where a cookie tells
 */
export function createAuthorize({
  keys,
  tokens = { authenticate: async () => null },
  local = () => null,
  count = () => {},
  session = async () => null,
  record = () => {},
  admit,
}: {
  keys: Pick<Keys, "authenticate" | "findRefused">;
  tokens?: { authenticate: AuthenticateToken } | undefined;
  local?: ((request: Request) => Principal | null) | undefined;
  count?: (request: Request, holder: string) => void;
  session?: ((request: Request) => Promise<Principal | null>) | undefined;
  record?: RecordEvent;
  /** The account with an id, if it may be used now. */
  admit: (accountId: string) => Promise<unknown>;
}): Authorize {
  // A request is asked about more than once, and counts as one.
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
    countOnce(request, holder.accountId);
    return { ...holder, via: "token" };
  };

  return async (request, scope) => {
    const principal = await authenticate(request);
    // Whoever is at the machine itself may take along the memories of an account that is shut.
    if (principal.via !== "local" && !(await admit(principal.accountId)))
      throw new AppError("forbidden", DISABLED);
    if (scope !== undefined && !allows(principal.scopes, scope)) {
      // The holder of a token can ask for more; a key is what it is.
      throw principal.via === "token"
        ? new AppError("forbidden", `This token lacks the scope ${scope}.`, {
            challenge: "insufficient_scope",
          })
        : new AppError("forbidden", `This key lacks the scope ${scope}.`);
    }
    return principal;
  };
}
