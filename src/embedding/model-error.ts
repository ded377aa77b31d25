/** CTXD_MODEL names what can't be used. `message` is the one line that the user sees. */
export class ModelError extends Error {
  override readonly name = "ModelError";
}
