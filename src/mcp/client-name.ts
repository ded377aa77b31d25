import { fieldsOf } from "./json-rpc.ts";

const CLIENT_KEY = "io.modelcontextprotocol/clientInfo";

/**
 * The name that a client gives itself: in `initialize`, or, since protocol version 2026-07-28, in
 * every message. Any text; null when the message has none.
 * @param message the body of the request
 */
export function clientNameOf(message: unknown): string | null {
  const { _meta, clientInfo } = fieldsOf(fieldsOf(message).params);
  const { name } = fieldsOf(fieldsOf(_meta)[CLIENT_KEY] ?? clientInfo);
  return typeof name === "string" ? name : null;
}
