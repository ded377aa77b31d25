import { version } from "../../package.json" with { type: "json" };
import { isObject } from "../text/parse-json.ts";
import recorded from "./first-answers.json" with { type: "json" };
import {
  CLIENT_KEY,
  clientNameOf,
  type Fields,
  fieldsOf,
  isOpenAi,
  RESERVED_KEYS,
  SELF_DESCRIBING,
  VERSION_KEY,
} from "./http-message.ts";

/** How the server introduces itself. */
export const SERVER_INFO = { name: "ctxd", title: "ctxd memory", version };

const { protocolVersions, introduction, lists } = recorded;
/** The lists by method. None of them depends on memories. */
const LISTS: ReadonlyMap<unknown, object> = new Map(Object.entries(lists));

const CAPABILITIES_KEY = `${RESERVED_KEYS}clientCapabilities`;
const ENVELOPE = [VERSION_KEY, CLIENT_KEY, CAPABILITIES_KEY];

/** The fields that every result has since 2026-07-28. */
const OF_RESULTS = {
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  _meta: { [`${RESERVED_KEYS}serverInfo`]: SERVER_INFO },
};

/**
 * The server's answer to what a client asks before any memory matters: who the server is, and what it offers to the
 * local owner. With it a bridge answers at once while a server starts. The test of this file compares each answer with
 * the server's, word for word, and writes `first-answers.json` from them.
 * @returns one line; null for every other message, and for one that the server might refuse
 */
export function firstAnswer(message: unknown): string | null {
  const { jsonrpc, id, method, params = {}, ...others } = fieldsOf(message);
  const isRequest = jsonrpc === "2.0" && isIdentifier(id) && Object.keys(others).length === 0;
  // The server offers more tools to a client of OpenAI.
  if (!isRequest || !isObject(params) || isOpenAi(clientNameOf(message))) return null;
  const { _meta: meta = {}, ...rest } = params;
  if (!isObject(meta)) return null;
  const result =
    VERSION_KEY in meta ? newResult(method, rest, meta) : oldResult(method, rest, meta);
  return result && JSON.stringify({ result, jsonrpc, id });
}

/** The result for a message that describes itself. */
function newResult(method: unknown, params: Fields, meta: Fields): object | null {
  const { [VERSION_KEY]: wanted, [CLIENT_KEY]: client, [CAPABILITIES_KEY]: can } = meta;
  if (wanted !== SELF_DESCRIBING || !areCapabilities(can)) return null;
  if (client !== undefined && !isClient(client)) return null;
  if (Object.keys(params).length > 0 || !isPlain(meta, ENVELOPE)) return null;
  if (method === "server/discover") {
    return { supportedVersions: [SELF_DESCRIBING], ...introduction, ...OF_RESULTS };
  }
  const list = LISTS.get(method);
  return list ? { ...list, ...OF_RESULTS } : null;
}

/** The result for a message of an earlier version. Of these, `initialize` agrees on one. */
function oldResult(method: unknown, params: Fields, meta: Fields): object | null {
  if (!isPlain(meta, [])) return null;
  if (method === "initialize") return initialized(params);
  if (Object.keys(params).length > 0) return null;
  return method === "ping" ? {} : (LISTS.get(method) ?? null);
}

function initialized({ protocolVersion: wanted, capabilities, clientInfo }: Fields): object | null {
  if (typeof wanted !== "string" || !areCapabilities(capabilities) || !isClient(clientInfo)) {
    return null;
  }
  const protocolVersion = protocolVersions.includes(wanted) ? wanted : protocolVersions[0];
  const { capabilities: offered, instructions } = introduction;
  return { protocolVersion, capabilities: offered, serverInfo: SERVER_INFO, instructions };
}

function isIdentifier(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** Whether `_meta` has, of the fields that the protocol defines, these and a valid token of progress at most. */
function isPlain(meta: Fields, allowed: readonly string[]): boolean {
  const { progressToken } = meta;
  const reserved = Object.keys(meta).filter((key) => key.startsWith(RESERVED_KEYS));
  return (
    (progressToken === undefined || isIdentifier(progressToken)) &&
    reserved.every((key) => allowed.includes(key))
  );
}

function areCapabilities(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isObject);
}

function isClient(value: unknown): boolean {
  return (
    isObject(value) &&
    ["name", "version"].every((field) => field in value) &&
    Object.values(value).every((field) => typeof field === "string")
  );
}
