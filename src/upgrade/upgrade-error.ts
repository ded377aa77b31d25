/** A release can't be asked for or installed. `message` is the one line that the user sees. */
export class UpgradeError extends Error {
  override readonly name = "UpgradeError";
}
