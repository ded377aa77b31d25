import { CtxdError } from "../errors.ts";

/** A client can't be configured. `message` is the one line that the user sees. */
export class ConnectError extends CtxdError {
  override readonly name = "ConnectError";
  readonly code = "connect_failed";
}
