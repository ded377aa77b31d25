import { readLines, TOO_LONG } from "../lines.ts";
import { errorAnswer, type Fields, fieldsOf, INTERNAL_ERROR, requestIdOf } from "./json-rpc.ts";

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** The parameter that the header `Mcp-Name` repeats, by method. */
const NAMED_BY: Fields = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/**
 * The headers that Streamable HTTP wants beside a message (2026-07-28, Server Validation): they
 * repeat what the message says. An older message says less, and needs the version alone.
 * @param negotiated the version that `initialize` agreed on, if there was one
 */
export function headersOf(message: unknown, negotiated: string | null): Record<string, string> {
  const { method, params } = fieldsOf(message);
  const fields = fieldsOf(params);
  const version = fieldsOf(fields._meta)[VERSION_KEY];
  if (!isHeaderValue(version) || !isHeaderValue(method)) {
    return negotiated === null ? {} : { "mcp-protocol-version": negotiated };
  }
  const name = fields[String(NAMED_BY[method])];
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": encodeHeader(name) }),
  };
}

/** No version and no method that is known has anything else in it. */
function isHeaderValue(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}

/** What a header can't carry as it is goes in base64, with the specification's marks around it. */
function encodeHeader(value: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value);
  if (isPlain && !value.startsWith("=?base64?")) return value;
  return `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

/** The messages of an answer, each as one line; none when there is nothing to say. */
export async function* messagesOf(response: Response, message: unknown): AsyncGenerator<string> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream") && response.body) yield* eventsOf(response.body);
  else {
    const answer = toAnswer(response, await response.text(), message);
    if (answer !== null) yield answer;
  }
}

/** The data of server-sent events; comments and other fields say nothing here. */
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

/** Errors of HTTP become those of JSON-RPC, so that whoever asked is answered. */
function toAnswer(response: Response, text: string, message: unknown): string | null {
  const id = requestIdOf(message);
  if (id === null && !Array.isArray(message)) return null;
  const body = fieldsOf(parse(text));
  if (Array.isArray(parse(text))) return oneLine(text);
  if (body.jsonrpc === "2.0") {
    return body.id === null ? JSON.stringify({ ...body, id }) : oneLine(text);
  }
  const said = fieldsOf(body.error).message;
  const reason = typeof said === "string" ? said : `The server answered ${response.status}.`;
  return errorAnswer(id, INTERNAL_ERROR, reason);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Within JSON, a line break is but white space. */
function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, " ");
}
