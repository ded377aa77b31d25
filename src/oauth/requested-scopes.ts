import { parseScopes, SCOPES, type Scope } from "../keys/scopes.ts";
import { OAuthError } from "./oauth-error.ts";

/**
 * The scopes that a client requests. Unknown scopes grant nothing (RFC 6749, section 3.3).
 * `offline_access` is ignored, because refresh tokens are always issued.
 * @returns null if it names none
 * @throws OAuthError `invalid_scope` if all of them are unknown
 */
export function parseRequestedScopes(text: string | null): readonly Scope[] | null {
  const asked = (text ?? "")
    .split(" ")
    .filter((scope) => scope !== "" && scope !== "offline_access");
  if (asked.length === 0) return null;
  const known = parseScopes(asked.join(" "));
  if (known.length > 0) return known;
  throw new OAuthError("invalid_scope", `The scopes here are ${SCOPES.join(", ")}.`);
}
