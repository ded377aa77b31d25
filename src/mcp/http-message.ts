import type { Bound } from "../keys/reach.ts";
import { readLines, TOO_LONG } from "../text/lines.ts";
import { isObject, parsed } from "../text/parse-json.ts";

/** The agent that saves, percent-encoded: the default `agent_id` of a call. */
export const AGENT_HEADER = "ctxd-agent";
/** The current project, percent-encoded. */
export const PROJECT_HEADER = "ctxd-project";
/** The conversation, percent-encoded. */
export const SESSION_HEADER = "ctxd-session";
/** The protocol's own session header (2025-11-25, Session Management), for clients that know no other. */
export const PROTOCOL_SESSION_HEADER = "mcp-session-id";
/** On the local socket only: the project to which the client limits itself. */
export const BOUND_HEADER = "ctxd-bound";
/** On the local socket only: a hook of an agent sends the request, so others follow. */
export const HOOK_HEADER = "ctxd-hook";
/** Suffix of `BOUND_HEADER`: memories without a project are hidden too. */
export const ONLY = ";only";

export function encodeBound({ project, only }: Bound): string {
  return encodeURIComponent(project) + (only ? ONLY : "");
}

/** The part of JSON-RPC 2.0 that a bridge needs to forward messages. */

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const INTERNAL_ERROR = -32_603;

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of a JSON object; an empty object for any other value. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
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

/** The prefix of the protocol's own keys in `_meta`, and those by which a message describes itself since 2026-07-28. */
export const RESERVED_KEYS = "io.modelcontextprotocol/";
export const VERSION_KEY = `${RESERVED_KEYS}protocolVersion`;
export const CLIENT_KEY = `${RESERVED_KEYS}clientInfo`;
/** The first protocol version whose messages carry their version, method and name themselves. */
export const SELF_DESCRIBING = "2026-07-28";

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

/** Whether a client of OpenAI, which expects more tools, gives itself this name or user agent. */
export function isOpenAi(name: string | null): boolean {
  return /^openai-mcp\b/i.test(name ?? "");
}

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
  const answer = parsed(text);
  const body = fieldsOf(answer);
  if (Array.isArray(answer)) return oneLine(text);
  if (body.jsonrpc === "2.0") {
    return body.id === null ? JSON.stringify({ ...body, id }) : oneLine(text);
  }
  const { message: details } = fieldsOf(body.error);
  const reason = typeof details === "string" ? details : `The server answered ${response.status}.`;
  return errorAnswer(id, INTERNAL_ERROR, reason);
}

/** In JSON text, a line break outside strings is only white space. */
function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, " ");
}
