import { CtxdError } from "../errors.ts";

/** A release can't be fetched or installed. `message` is the line that the user sees. */
export class UpgradeError extends CtxdError {
  override readonly name = "UpgradeError";
  readonly code = "upgrade_failed";
}
