import { CtxdError } from "../errors.ts";

/** A server can't run as it was asked to. `message` is the one line that the user sees. */
export class ServerError extends CtxdError {
  override readonly name = "ServerError";
  readonly code = "server_failed";
}
