import { CtxdError } from "../errors.ts";

/** A server can't start with these settings. `message` is the line that the user sees. */
export class ServerError extends CtxdError {
  override readonly name = "ServerError";
  readonly code = "server_failed";
}
