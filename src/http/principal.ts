import { AppError } from "../errors.ts";
import type { Keys } from "../keys/keys.ts";
import type { Scope } from "../keys/scopes.ts";

/** Who is asking. Every request that touches memories becomes one of these, or is refused. */
export interface Principal {
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  /** The way in. */
  readonly via: "key";
}

/**
 * Tells who sent a request, and that they may do what `scope` names.
 * @throws AppError `unauthorized` or `forbidden`
 */
export type Authorize = (request: Request, scope: Scope) => Principal;

const BEARER = /^Bearer +(\S+) *$/i;

/** The one place where a request becomes a principal. A token in the query string is not read. */
export function createAuthorize({ keys }: { keys: Pick<Keys, "authenticate"> }): Authorize {
  const authenticate = (request: Request): Principal => {
    const header = request.headers.get("authorization");
    if (header === null) {
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
    const holder = keys.authenticate(token);
    if (!holder) {
      throw new AppError("unauthorized", "The API key is unknown, revoked or expired.");
    }
    return { accountId: holder.accountId, scopes: holder.scopes, via: "key" };
  };

  // A request is asked about twice: before its body is read, and when it is handled.
  const known = new WeakMap<Request, Principal>();

  return (request, scope) => {
    const principal = known.get(request) ?? authenticate(request);
    known.set(request, principal);
    if (!principal.scopes.includes(scope)) {
      throw new AppError("forbidden", `This key lacks the scope ${scope}.`);
    }
    return principal;
  };
}
