import { CtxdError } from "../errors.ts";

/** Error codes of RFC 6749 (4.1.2.1, 5.2), RFC 7591 (3.2.2), RFC 8707 (2) and RFC 9101 (7). */
type OAuthErrorCode =
  | "access_denied"
  | "invalid_client"
  | "invalid_client_metadata"
  | "invalid_grant"
  | "invalid_redirect_uri"
  | "invalid_request"
  | "invalid_scope"
  | "invalid_target"
  | "request_not_supported"
  | "request_uri_not_supported"
  | "temporarily_unavailable"
  | "unsupported_grant_type"
  | "unsupported_response_type";

/** An error for clients by the rules of OAuth. `message` is for developers and repeats no input. */
export class OAuthError extends CtxdError {
  readonly code: OAuthErrorCode;
  /** RFC 6749, section 5.2: 400, or 401 for a client that is not authenticated. */
  readonly status: number;

  constructor(
    code: OAuthErrorCode,
    message: string,
    status = code === "invalid_client" ? 401 : 400,
  ) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

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
