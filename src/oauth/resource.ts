import { OAuthError } from "./oauth-error.ts";

/** What tokens are for: the server's MCP endpoint, as people type it. */
export function resourceOf(publicUrl: string): string {
  return `${publicUrl}/mcp`;
}

/**
 * The resource that a client asks a token for (RFC 8707, section 2). Older clients name none, and
 * some the bare origin or a slash more: it is the only one there is.
 * @throws OAuthError `invalid_target` for any other
 */
export function parseResource(presented: readonly string[], publicUrl: string): string {
  const resource = resourceOf(publicUrl);
  for (const each of presented) {
    const url = URL.parse(each);
    // `href` has the scheme and the host in lower case.
    const known = url && [resource, publicUrl].includes(url.href.replace(/\/$/, ""));
    if (!known) throw new OAuthError("invalid_target", `The only resource here is ${resource}.`);
  }
  return resource;
}
