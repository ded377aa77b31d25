import { CtxdError } from "../errors.ts";

/** A release can't be asked for or installed. `message` is the one line that the user sees. */
export class UpgradeError extends CtxdError {
  override readonly name = "UpgradeError";
  readonly code = "upgrade_failed";
}
