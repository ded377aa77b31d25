import { isSameSecret } from "../db/id.ts";
import { FULL_ACCESS, parseScopes, SCOPES, type Scope } from "../keys/scopes.ts";
import { type Client, isRegisteredRedirectUri } from "./clients/client.ts";
import { OAuthError, parseResource } from "./oauth-error.ts";

/** RFC 7636, section 4.2: a SHA-256 in base64url without padding. */
const CHALLENGE = /^[\w-]{43}$/;
/** RFC 7636, section 4.1. */
const VERIFIER = /^[\w.~-]{43,128}$/;

/** Whether a verifier belongs to an S256 challenge (RFC 7636, section 4.6). */
export function matchesChallenge(verifier: string, challenge: string): boolean {
  if (!VERIFIER.test(verifier)) return false;
  const made = new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
  return isSameSecret(made, challenge);
}

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

/** A client's request for a person's consent. */
export type AuthorizationRequest = ReturnType<typeof parseAuthorizationRequest>;

/** The address for the answer, once it is known to be allowed. */
export type ReplyTo = ReturnType<typeof parseReplyTo>;

/** The parameters of a request that the consent page passes on. */
export const PARAMETERS = [
  "response_type",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
  "resource",
  "response_mode",
] as const;

/**
 * Parses the address for the answer (RFC 6749, section 3.1.2.4). Its errors are shown to the person and
 * never sent to the address.
 * @throws OAuthError `invalid_request` or `invalid_redirect_uri`
 */
export function parseReplyTo(parameters: URLSearchParams, client: Client) {
  const presented = parameterOf(parameters, "redirect_uri");
  // RFC 6749, section 3.1.2.3: a client with only one address may omit it.
  const [only] = client.redirectUris.length === 1 ? client.redirectUris : [];
  const redirectUri = presented ?? only ?? null;
  if (redirectUri === null || !isRegisteredRedirectUri(client.redirectUris, redirectUri)) {
    throw new OAuthError(
      "invalid_redirect_uri",
      "The app asks for the answer at an address that it has not registered.",
    );
  }
  return { redirectUri, state: parameters.get("state") };
}

/** Parses the whole request. The client may receive its errors. @throws OAuthError */
export function parseAuthorizationRequest(
  parameters: URLSearchParams,
  { client, replyTo, publicUrl }: { client: Client; replyTo: ReplyTo; publicUrl: string },
) {
  const responseType = parameterOf(parameters, "response_type");
  // RFC 9101: not supported here, and must not be ignored.
  if (parameters.has("request")) throw notSupported("request_not_supported", "request");
  if (parameters.has("request_uri")) throw notSupported("request_uri_not_supported", "request_uri");
  if (responseType === null) throw invalid("response_type is missing: use code");
  if (responseType !== "code") {
    throw new OAuthError("unsupported_response_type", "The only response_type here is code.");
  }
  if ((parameterOf(parameters, "response_mode") ?? "query") !== "query") {
    throw invalid("The only response_mode here is query");
  }
  parameterOf(parameters, "state");
  const challenge = parameterOf(parameters, "code_challenge");
  // RFC 7636, section 4.3: without a method, the client means plain.
  if (challenge === null || parameterOf(parameters, "code_challenge_method") !== "S256") {
    throw invalid("PKCE is needed: send code_challenge with code_challenge_method=S256");
  }
  if (!CHALLENGE.test(challenge)) throw invalid("code_challenge is not a SHA-256 in base64url");
  const scopes = parseRequestedScopes(parameterOf(parameters, "scope")) ?? FULL_ACCESS;
  const resource = parseResource(parameters.getAll("resource"), publicUrl);
  return { client, ...replyTo, challenge, scopes, resource };
}

/** RFC 6749, section 3.1: no parameter twice. An empty one counts as missing. */
export function parameterOf(parameters: URLSearchParams, name: string): string | null {
  const [value = null, ...more] = parameters.getAll(name);
  if (more.length > 0) throw invalid(`${name} is given more than once`);
  return value === "" ? null : value;
}

function invalid(message: string): OAuthError {
  return new OAuthError("invalid_request", `${message}.`);
}

function notSupported(
  code: "request_not_supported" | "request_uri_not_supported",
  name: string,
): OAuthError {
  return new OAuthError(code, `The parameter ${name} is not supported here.`);
}
