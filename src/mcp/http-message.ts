import { readLines, TOO_LONG } from "../text/lines.ts";
import { errorAnswer, type Fields, fieldsOf, INTERNAL_ERROR, requestIdOf } from "./json-rpc.ts";

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** By method, the parameter that the header `Mcp-Name` repeats. */
const NAME_PARAMETERS: Fields = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/**
 * The headers that Streamable HTTP requires with a message (2026-07-28, Server Validation). They
 * repeat fields of the message. A message of an older version needs the version header only.
 * @param negotiated the version that `initialize` agreed on; null before
 */
export function headersOf(message: unknown, negotiated: string | null): Record<string, string> {
  const { method, params } = fieldsOf(message);
  const fields = fieldsOf(params);
  const version = fieldsOf(fields._meta)[VERSION_KEY];
  if (!isHeaderValue(version) || !isHeaderValue(method)) {
    return negotiated === null ? {} : { "mcp-protocol-version": negotiated };
  }
  const name = fields[String(NAME_PARAMETERS[method])];
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": encodeHeader(name) }),
  };
}

/** All known versions and methods consist of these characters. */
function isHeaderValue(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}

/** Encodes text that a header can't carry as base64, in the wrapper that the specification defines. */
function encodeHeader(value: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value);
  if (isPlain && !value.startsWith("=?base64?")) return value;
  return `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

/** The messages of a response, one line each; none when the message needs no answer. */
export async function* messagesOf(response: Response, message: unknown): AsyncGenerator<string> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream") && response.body) yield* eventsOf(response.body);
  else {
    const answer = toAnswer(response, await response.text(), message);
    if (answer !== null) yield answer;
  }
}

/** The data of server-sent events. Comments and other fields are ignored. */
async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data = "";
  for await (const line of readLines(body, Number.POSITIVE_INFINITY)) {
    if (line === TOO_LONG) continue;
    if (line.startsWith("data:")) data += line.slice(5).trim();
    if (line !== "" || data === "") continue;
    yield data;
    data = "";
  }
}

/** Turns an HTTP error into a JSON-RPC error, so that every request is answered. */
function toAnswer(response: Response, text: string, message: unknown): string | null {
  const id = requestIdOf(message);
  if (id === null && !Array.isArray(message)) return null;
  const body = fieldsOf(parse(text));
  if (Array.isArray(parse(text))) return oneLine(text);
  if (body.jsonrpc === "2.0") {
    return body.id === null ? JSON.stringify({ ...body, id }) : oneLine(text);
  }
  const { message: details } = fieldsOf(body.error);
  const reason = typeof details === "string" ? details : `The server answered ${response.status}.`;
  return errorAnswer(id, INTERNAL_ERROR, reason);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** In JSON text, a line break outside strings is only white space. */
function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, " ");
}
