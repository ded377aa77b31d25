import { OAuthError } from "./oauth-error.ts";

/** The resource of tokens: the server's MCP endpoint, as people type it. */
export function resourceOf(publicUrl: string): string {
  return `${publicUrl}/mcp`;
}

/**
 * The resource that a client requests a token for (RFC 8707, section 2). There is only one. Older
 * clients name none, and some name the bare origin or add a slash.
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
