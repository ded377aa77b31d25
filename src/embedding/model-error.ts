import { CtxdError } from "../errors.ts";

/** A model can't be used. `message` is the only line that the user sees. */
export class ModelError extends CtxdError {
  override readonly name = "ModelError";
  readonly code = "model_unusable";
}
