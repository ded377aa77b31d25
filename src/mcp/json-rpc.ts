/** The part of JSON-RPC 2.0 that a bridge needs to forward messages. */

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const INTERNAL_ERROR = -32_603;

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of a JSON object; an empty object for any other value. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

/** The id of a request; null for a notification, a response or a batch. */
export function requestIdOf(message: unknown): string | number | null {
  const { id, method } = fieldsOf(message);
  if (typeof method !== "string") return null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** An error response. @param id null when the input was not a valid request */
export function errorAnswer(id: string | number | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
}
