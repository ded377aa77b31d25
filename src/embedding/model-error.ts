import { CtxdError } from "../errors.ts";

/** CTXD_MODEL names what can't be used. `message` is the one line that the user sees. */
export class ModelError extends CtxdError {
  override readonly name = "ModelError";
  readonly code = "model_unusable";
}
