import {
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import {
  type Client,
  ConnectError,
  type Fields,
  SERVER_NAME,
  unlessDamaged,
  type Value,
} from "./client.ts";
import {
  type Format,
  lineBreakOf,
  nextLine,
  renderYaml,
  tomlFormat,
  withLastBreak,
} from "./format.ts";
import { jsonFormat } from "./json.ts";

/** YAML in block style. Text is edited in place, because a library that rewrites it would change other lines too. */
const yamlFormat: Format = {
  read: (text) => parseYaml(text).toJS() ?? {},

  write(text, { servers: [table = ""], isList = false }, name, entry, former) {
    const holder = findTable(text, table);
    const block: Value = isList ? [{ name, ...entry }] : { [name]: entry };
    if (!holder) return entry === null ? text : append(text, { [table]: block });
    const keyEnd = rangeOf(holder.key)[1];

    if (isBlock(holder.value)) {
      const isKept = findTable(former, table) !== null;
      return writeBlock(text, holder, { name, block: entry && block, isKept });
    }
    if (entry === null) return text;
    const [start, end] = holder.value === null ? [keyEnd, keyEnd] : rangeOf(holder.value);
    const cut = text.slice(0, start).trimEnd() + text.slice(end);
    const at = nextLine(cut, keyEnd);
    const indent = columnOf(text, holder) + 2;
    return withLastBreak(cut.slice(0, at)) + render(block, indent, text) + cut.slice(at);
  },
};

/**
 * Writes an entry in a line of its own among others.
 * @param wanted the entry, null to remove it, and whether the key of the entries stays when none is left
 */
function writeBlock(
  text: string,
  { key, value: entries }: Pair,
  { name, block, isKept }: { name: string; block: Value; isKept: boolean },
): string {
  if (!isBlock(entries)) return text;
  const lines = block === null ? "" : render(block, columnOf(text, entries), text);
  const old = isSeq(entries) ? findItem(entries, name) : findPair(entries, name);
  const [start, end] = old ? linesOf(text, old) : endOf(text, entries);
  const head = withLastBreak(text.slice(0, start));
  if (block !== null || entries.items.length > 1) return head + lines + text.slice(end);
  const [keyStart, keyEnd] = rangeOf(key);
  const colon = text.indexOf(":", keyEnd) + 1;
  if (!isKept && head.slice(colon).trim() === "") {
    return text.slice(0, startOfLine(text, keyStart)) + text.slice(end);
  }
  // A key without any lines below it would be null.
  return `${head.slice(0, colon)} ${isSeq(entries) ? "[]" : "{}"}${head.slice(colon)}${text.slice(end)}`;
}

function parseYaml(text: string) {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (!error) return document;
  const line = error.linePos?.[0].line ?? 1;
  const [problem = ""] = error.message.split(/ at line \d/);
  throw new ConnectError(`is not valid YAML (line ${line}: ${problem})`);
}

function findTable(text: string, table: string): Pair | null {
  const root = parseYaml(text).contents;
  return isMap(root) ? findPair(root, table) : null;
}

function findPair(map: YAMLMap, name: string): Pair | null {
  return map.items.find(({ key }) => isScalar(key) && key.value === name) ?? null;
}

function findItem({ items }: YAMLSeq, name: string): YAMLMap | null {
  return items.filter(isMap).find((item) => item.get("name") === name) ?? null;
}

/** Whether a collection has a line for each item, rather than brackets. */
function isBlock(value: unknown): value is YAMLMap | YAMLSeq<Node> {
  return (isMap(value) || isSeq(value)) && !value.flow;
}

/** Start and end of a node in its text, without the white space and comments after it. */
function rangeOf(node: unknown): [start: number, end: number] {
  const range = node instanceof Object && "range" in node ? node.range : null;
  if (!Array.isArray(range)) throw new ConnectError("is YAML of a kind that can't be changed");
  return [range[0], range[1]];
}

/** The column of a pair's key, of a map's first key, or of a list's first dash. */
function columnOf(text: string, node: YAMLMap | YAMLSeq | Pair): number {
  const [start] = rangeOf(isPair(node) ? node.key : node);
  return start - startOfLine(text, start);
}

function startOfLine(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** The lines of an entry: a pair, or an item of a list. */
function linesOf(text: string, item: Pair | Node): [start: number, end: number] {
  const [first, last] = isPair(item) ? [item.key, item.value ?? item.key] : [item, item];
  const end = rangeOf(last)[1];
  // A block scalar includes the break of its last line.
  return [startOfLine(text, rangeOf(first)[0]), text[end - 1] === "\n" ? end : nextLine(text, end)];
}

/** The position for a new entry: after the last one. */
function endOf(text: string, { items }: YAMLMap | YAMLSeq<Node>): [start: number, end: number] {
  const last = items.at(-1);
  const end = last ? linesOf(text, last)[1] : text.length;
  return [end, end];
}

function append(text: string, fields: Fields): string {
  return withLastBreak(text) + render(fields, 0, text);
}

function render(value: Value, indent: number, text: string): string {
  const prefix = " ".repeat(indent);
  return renderYaml(value)
    .replaceAll(/^(?=.)/gm, prefix)
    .replaceAll("\n", lineBreakOf(text));
}

const FORMATS: Record<Client["format"], Format> = {
  json: jsonFormat,
  toml: tomlFormat,
  yaml: yamlFormat,
};

/**
 * Fields that give the server's address or command, in all clients. ctxd writes these fields and removes
 * those that a new entry does not need. All other fields (disabled, trusted, timeouts) belong to the person.
 */
const ADDRESS_FIELDS = new Set(
  "type transport command cmd args url uri httpUrl serverUrl headers http_headers env_http_headers requestOptions bearer_token_env_var".split(
    " ",
  ),
);

/** ctxd's entry in a client's configuration; null when there is none. */
export function readEntry(client: Client, text: string): Fields | null {
  return entryIn(client, serversIn(client, FORMATS[client.format].read(text)));
}

/**
 * Sets ctxd's entry in a client's configuration, or removes it. Returns the same text when nothing changes.
 * @param former the text before ctxd changed it; empty for a new file
 * @throws ConnectError when the text is damaged or can't be changed safely; its message is the end of a sentence about the file
 */
export function writeEntry(
  client: Client,
  from: string,
  entry: Fields | null,
  former = "",
): string {
  const format = FORMATS[client.format];
  const isNew = from.trim() === "" && entry !== null && client.beside;
  const text = isNew ? renderYaml(client.beside) : from;
  const before = format.read(text);
  const servers = serversIn(client, before);
  const old = entryIn(client, servers);
  const wanted = entry === null ? null : merge(old ?? {}, entry);
  if (Bun.deepEquals(old, wanted)) return text;

  const written = format.write(text, client, SERVER_NAME, wanted, former);
  const { [SERVER_NAME]: _, ...others } = servers;
  const expected = wanted === null ? others : { ...others, [SERVER_NAME]: wanted };
  if (!isOnlyChange(client, { format, before, written, expected })) {
    throw new ConnectError(
      `has ${client.servers.join(".")} in a form that ctxd can't change: do it by hand (--print shows what)`,
    );
  }
  const isOurs = entry === null && former.trim() === "" && client.beside !== undefined;
  return isOurs && Bun.deepEquals(format.read(written), client.beside) ? "" : written;
}

/** The new entry's fields, with the person's own fields of the old entry. */
function merge(old: Fields, entry: Fields): Fields {
  const kept = Object.entries(old).filter(([name]) => !ADDRESS_FIELDS.has(name) && name !== "env");
  const env = { ...(isFields(old.env) ? old.env : {}), ...(isFields(entry.env) ? entry.env : {}) };
  if (entry.env === undefined) delete env.CTXD_BEARER;
  const hasEnv = Object.keys(env).length > 0 || (old.env !== undefined && entry.env === undefined);
  return { ...entry, ...Object.fromEntries(kept), ...(hasEnv && { env }) };
}

/** Whether a changed text differs from the old one only in the servers, and these are as expected. */
function isOnlyChange(
  client: Client,
  texts: { format: Format; before: unknown; written: string; expected: Fields },
): boolean {
  return unlessDamaged(() => {
    const after = texts.format.read(texts.written);
    return (
      Bun.deepEquals(without(after, client.servers), without(texts.before, client.servers)) &&
      Bun.deepEquals(serversIn(client, after), texts.expected)
    );
  }, false);
}

/** Settings without the value at a path, but with all objects on the way to it. */
function without(value: unknown, [key = "", ...rest]: readonly string[]): unknown {
  if (!isFields(value ?? {})) return value;
  const { [key]: inner, ...others } = Object(value);
  return rest.length === 0 ? others : { ...others, [key]: without(inner, rest) };
}

/** The servers by name. Those of a list that have no name are under their place. */
function serversIn({ servers: path, isList }: Client, configuration: unknown): Fields {
  if (!isFields(configuration)) {
    throw new ConnectError("is not an object of settings: correct it first");
  }
  let servers: Value = configuration;
  for (const key of path) servers = (isFields(servers) ? servers[key] : servers) ?? {};
  if (isList && Array.isArray(servers)) {
    return Object.fromEntries(
      servers.map((item: Value, at) => {
        if (!isFields(item) || typeof item.name !== "string") return [`#${at}`, item];
        const { name, ...entry } = item;
        return [name, entry];
      }),
    );
  }
  if (isFields(servers) && (!isList || Object.keys(servers).length === 0)) return servers;
  const kind = isList ? "list" : "object";
  throw new ConnectError(`has no ${kind} of servers under ${path.join(".")}: correct it first`);
}

function entryIn({ servers: path }: Client, servers: Fields): Fields | null {
  const entry = servers[SERVER_NAME] ?? null;
  if (entry === null || isFields(entry)) return entry;
  const place = [...path, SERVER_NAME].join(".");
  throw new ConnectError(`has no object under ${place}: correct it first`);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
