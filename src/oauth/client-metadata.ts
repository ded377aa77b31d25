import { cleanName } from "./client.ts";
import { OAuthError } from "./oauth-error.ts";
import { describeRedirect, isAllowedRedirectUri } from "./redirect-uri.ts";

/** How a client authenticates at the token endpoint (RFC 7591, section 2). */
export const AUTH_METHODS = ["none", "client_secret_post", "client_secret_basic"] as const;
/** The method of clients with metadata documents, which have keys instead of a secret. */
export const KEY_METHOD = "private_key_jwt";
type AuthMethod = (typeof AUTH_METHODS)[number];
export const GRANT_TYPES = ["authorization_code", "refresh_token"] as const;

/** The metadata of a client that this server uses. */
export interface ClientMetadata {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly authMethod: AuthMethod;
}

const MAX_REDIRECT_URIS = 20;

/**
 * Validates the metadata of a registration (RFC 7591, section 2). Unknown fields are ignored, because
 * clients send the same to every server.
 * @throws OAuthError `invalid_redirect_uri` or `invalid_client_metadata`
 */
export function parseClientMetadata(body: unknown): ClientMetadata {
  const metadata = toRecord(body);
  const redirectUris = parseRedirectUris(metadata.redirect_uris);
  const wanted = listOf(metadata.grant_types) ?? ["authorization_code"];
  if (!wanted.includes("authorization_code")) {
    throw invalid(
      `grant_types must include authorization_code; known are ${GRANT_TYPES.join(", ")}`,
    );
  }
  if (!(listOf(metadata.response_types) ?? ["code"]).includes("code")) {
    throw invalid("response_types must include code");
  }
  // RFC 7591, section 2: the method of a client that names none.
  const method = metadata.token_endpoint_auth_method ?? "client_secret_basic";
  const authMethod = AUTH_METHODS.find((known) => known === method);
  if (!authMethod) throw invalid(`token_endpoint_auth_method is one of ${AUTH_METHODS.join(", ")}`);
  return { name: nameOf(metadata, redirectUris), redirectUris, authMethod };
}

/** The members of a JSON object. @throws OAuthError for anything else */
export function toRecord(body: unknown): Record<string, unknown> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalid("The metadata must be a JSON object");
  }
  return Object.fromEntries(Object.entries(body));
}

/** The name of a client, or the host of its redirect address. */
export function nameOf(metadata: Record<string, unknown>, redirectUris: readonly string[]): string {
  const name = typeof metadata.client_name === "string" ? cleanName(metadata.client_name) : null;
  return name ?? describeRedirect(redirectUris[0] ?? "");
}

/** @throws OAuthError `invalid_redirect_uri` when one of them can't be allowed */
export function parseRedirectUris(value: unknown): readonly string[] {
  const uris = listOf(value) ?? [];
  if (uris.length === 0 || uris.length > MAX_REDIRECT_URIS) {
    throw new OAuthError(
      "invalid_redirect_uri",
      `redirect_uris must be a list of 1 to ${MAX_REDIRECT_URIS} addresses.`,
    );
  }
  if (uris.every(isAllowedRedirectUri)) return uris;
  throw new OAuthError(
    "invalid_redirect_uri",
    "Each of redirect_uris must be https://…, http://localhost, http://127.0.0.1 or http://[::1], or the address of a known app; without a fragment or a user.",
  );
}

/** A list of texts; null for anything else. */
export function listOf(value: unknown): string[] | null {
  if (!Array.isArray(value)) return null;
  const texts = value.filter((item): item is string => typeof item === "string");
  return texts.length === value.length ? texts : null;
}

function invalid(message: string): OAuthError {
  return new OAuthError("invalid_client_metadata", `${message}.`);
}
