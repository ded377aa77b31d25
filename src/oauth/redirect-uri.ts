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
export function isAllowedRedirectUri(uri: string): boolean {
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
