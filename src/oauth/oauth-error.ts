import { CtxdError } from "../errors.ts";
import type { Grant } from "./grants.ts";

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
  override readonly name = "OAuthError";
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

/** A used code or refresh token was sent again: its grant is revoked. */
export class ReuseError extends OAuthError {
  readonly grant: Grant;

  /** @param refusal the error for the client: the same as for any invalid token */
  constructor({ code, message }: OAuthError, grant: Grant) {
    super(code, message);
    this.grant = grant;
  }
}
