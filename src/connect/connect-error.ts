/** A client can't be configured. `message` is the one line that the user sees. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
}
