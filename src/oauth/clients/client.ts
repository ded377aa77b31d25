import type { JSONWebKeySet } from "jose";
import { excerptOf } from "../../text/excerpt.ts";
import { isObject, type JsonObject } from "../../text/parse-json.ts";
import { OAuthError } from "../oauth-error.ts";

/** Redirect URIs of apps without a web address, in the form that they register. */
const PRIVATE_USE: ReadonlySet<string> = new Set(["cursor://anysphere.cursor-mcp/oauth/callback"]);

const MAX_LENGTH = 2_048;

/**
 * An address of this computer: scheme, host, port, and the rest, which must be equal. It is read from
 * the text itself, because parsers correct texts.
 */
const LOOPBACK = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(:\d{1,5})?((?:[/?].*)?)$/;

/**
 * Whether a client may register a redirect URI: HTTPS, this computer over HTTP (RFC 8252, section 7.3;
 * also `localhost`, which MCP clients use), or a known app. It has no fragment (RFC 6749, section
 * 3.1.2), no user, and only characters of URIs.
 */
function isAllowedRedirectUri(uri: string): boolean {
  if (uri.length > MAX_LENGTH || !/^[\x21-\x7e]+$/.test(uri) || /[#\\"<>^`{|}]/.test(uri)) {
    return false;
  }
  if (PRIVATE_USE.has(uri)) return true;
  const url = URL.parse(uri);
  if (url?.username !== "" || url.password !== "") return false;
  if (/^https:\/\/[^/?@]+([/?]|$)/.test(uri)) return url.protocol === "https:";
  return LOOPBACK.test(uri);
}

/** Whether a redirect URI is on this computer. */
export function isLoopback(uri: string): boolean {
  return LOOPBACK.test(uri);
}

/**
 * Whether a client that registered `registered` may receive the answer at `presented`. They must be
 * equal (RFC 9700, section 2.1), except for the port on this computer (RFC 8252, section 7.3).
 */
export function isRegisteredRedirectUri(registered: readonly string[], presented: string): boolean {
  if (!isAllowedRedirectUri(presented)) return false;
  const withoutPort = (uri: string) => uri.replace(LOOPBACK, "$1$3");
  return registered.some((uri) => withoutPort(uri) === withoutPort(presented));
}

/** The host of a redirect URI for people, in ASCII, so that look-alikes show. */
export function describeRedirect(uri: string): string {
  const { protocol, host } = new URL(uri);
  return /^https?:$/.test(protocol) ? host : `${protocol}//${host}`;
}

/** A redirect URI with parameters added to those that it has (RFC 6749, section 4.1.2). */
export function withParameters(
  uri: string,
  parameters: Readonly<Record<string, string | null>>,
): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null) added.set(name, value);
  }
  return `${uri}${uri.includes("?") ? "&" : "?"}${added}`;
}

/** A program that asks people for access to their memories. */
export interface Client {
  /** The id from its registration, or the address of its metadata document. */
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Its keys, if it signs. */
  readonly keys?: ClientKeys;
  /** Set when its metadata document can't be reached: nothing but its address is known. */
  readonly isUnverified?: true;
}

/** The name of a client whose metadata document can't be reached. */
export function unverifiedName(clientId: string): string {
  return `${new URL(clientId).host} (not verified)`;
}

/**
 * A client whose metadata document can't be reached. It may do what any program may that registers itself: receive
 * an answer on this computer, at the presented address and no other, without keys. Null for another redirect URI.
 */
export function unverifiedClient(id: string, redirectUri: string | null): Client | null {
  if (redirectUri === null || !isLoopback(redirectUri)) return null;
  return { id, name: unverifiedName(id), redirectUris: [redirectUri], isUnverified: true };
}

interface ClientKeys {
  readonly source: JSONWebKeySet | string;
  /** Whether the client must sign, because its document names no other method. */
  readonly required: boolean;
}

const MAX_NAME = 80;

/**
 * A client's name for display: on one line, without control characters and changes of the writing
 * direction, and not too long. Null if nothing remains.
 */
function cleanName(name: string): string | null {
  const plain = name.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, " ");
  return excerptOf(plain, MAX_NAME) || null;
}

/** Whether a client's id is the address of its metadata document. */
export function isDocumentAddress(clientId: string): boolean {
  return clientId.startsWith("https://");
}

/** How a client authenticates at the token endpoint (RFC 7591, section 2). */
export const AUTH_METHODS = ["none", "client_secret_post", "client_secret_basic"] as const;
/** The method of clients with metadata documents, which have keys instead of a secret. */
export const KEY_METHOD = "private_key_jwt";
export const GRANT_TYPES = ["authorization_code", "refresh_token"] as const;

/** The metadata of a client that this server uses. */
export type ClientMetadata = ReturnType<typeof parseClientMetadata>;

const MAX_REDIRECT_URIS = 20;

/**
 * Validates the metadata of a registration (RFC 7591, section 2). Unknown fields are ignored, because
 * clients send the same to every server.
 * @throws OAuthError `invalid_redirect_uri` or `invalid_client_metadata`
 */
export function parseClientMetadata(body: unknown) {
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
export function toRecord(body: unknown): JsonObject {
  if (isObject(body)) return body;
  throw invalid("The metadata must be a JSON object");
}

/** The name of a client, or the host of its redirect address. */
export function nameOf(metadata: JsonObject, redirectUris: readonly string[]): string {
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
