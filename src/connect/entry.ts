import { type Client, type Fields, SERVER_NAME } from "./client.ts";
import { ConnectError } from "./connect-error.ts";
import type { Format } from "./format.ts";
import { jsonFormat } from "./json.ts";
import { tomlFormat } from "./toml.ts";
import { yamlFormat } from "./yaml.ts";

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
  "type command cmd args url uri httpUrl serverUrl headers http_headers env_http_headers bearer_token_env_var".split(
    " ",
  ),
);

/** ctxd's entry in a client's configuration; null when there is none. */
export function readEntry(client: Client, text: string): Fields | null {
  return entryIn(client, serversIn(client, FORMATS[client.format].read(text)));
}

/**
 * Sets ctxd's entry in a client's configuration, or removes it. Returns the same text when nothing changes.
 * @throws ConnectError when the text is damaged or can't be changed safely; its message is the end of a sentence about the file
 */
export function writeEntry(client: Client, text: string, entry: Fields | null): string {
  const format = FORMATS[client.format];
  const before = format.read(text);
  const servers = serversIn(client, before);
  const old = entryIn(client, servers);
  const wanted = entry === null ? null : merge(old ?? {}, entry);
  if (Bun.deepEquals(old, wanted)) return text;

  const written = format.write(text, client.servers, SERVER_NAME, wanted);
  const { [SERVER_NAME]: _, ...others } = servers;
  const expected = wanted === null ? others : { ...others, [SERVER_NAME]: wanted };
  if (!isOnlyChange(client, { format, before, written, expected })) {
    throw new ConnectError(
      `has ${client.servers} in a form that ctxd can't change: do it by hand (--print shows what)`,
    );
  }
  return written;
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
  try {
    const after = texts.format.read(texts.written);
    const without = (value: unknown) =>
      isFields(value) ? Object.entries(value).filter(([name]) => name !== client.servers) : value;
    return (
      Bun.deepEquals(without(after), without(texts.before)) &&
      Bun.deepEquals(serversIn(client, after), texts.expected)
    );
  } catch (error) {
    if (error instanceof ConnectError) return false;
    throw error;
  }
}

function serversIn({ servers: name }: Client, configuration: unknown): Fields {
  if (!isFields(configuration)) {
    throw new ConnectError("is not an object of settings: correct it first");
  }
  const servers = configuration[name] ?? {};
  if (isFields(servers)) return servers;
  throw new ConnectError(`has no object of servers under ${name}: correct it first`);
}

function entryIn({ servers: table }: Client, servers: Fields): Fields | null {
  const entry = servers[SERVER_NAME] ?? null;
  if (entry === null || isFields(entry)) return entry;
  throw new ConnectError(`has no object under ${table}.${SERVER_NAME}: correct it first`);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
