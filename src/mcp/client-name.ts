import { fieldsOf } from "./json-rpc.ts";

const CLIENT_KEY = "io.modelcontextprotocol/clientInfo";

/**
 * What a client calls itself in a message: as it begins, or, in the newer era of the protocol, each
 * time. Any text; null where it says nothing.
 * @param message the body of the request
 */
export function clientNameOf(message: unknown): string | null {
  const { _meta, clientInfo } = fieldsOf(fieldsOf(message).params);
  const { name } = fieldsOf(fieldsOf(_meta)[CLIENT_KEY] ?? clientInfo);
  return typeof name === "string" ? name : null;
}
