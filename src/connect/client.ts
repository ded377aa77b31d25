import { CtxdError } from "../errors.ts";

/** The name of ctxd's entry in every client's list of servers. */
export const SERVER_NAME = "ctxd";

/** A value in a configuration file. */
export type Value = string | number | boolean | null | readonly Value[] | Fields;
export interface Fields {
  readonly [name: string]: Value;
}

/** A program on this machine that an agent starts to use MCP over standard input and output. */
interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

interface Remote {
  /** The address of its MCP endpoint. */
  readonly url: string;
  /** An API key; null when the person signs in instead. */
  readonly key: string | null;
}

/**
 * The path of a file on each system. `~` is the home folder, XDG_CONFIG_HOME replaces `~/.config`, and
 * `%APPDATA%` is Windows' folder for settings of programs.
 */
export interface Places {
  readonly linux: string;
  readonly macos: string;
  readonly windows: string;
}

/** The path on a system; null for an unknown system. */
export function placeOn(platform: string, { linux, macos, windows }: Places): string | null {
  const places: Readonly<Record<string, string>> = { linux, darwin: macos, win32: windows };
  return places[platform] ?? null;
}

/** Where a client or its hooks keep their settings. */
export interface SettingsFile {
  readonly file: Places;
  /** Other paths where the client looks for the file. An existing file there is used instead of a new one. */
  readonly alternatives?: readonly string[];
  /** A variable that names another folder for the file, with the file's path in it, or the file itself. */
  readonly pathVariable?: { readonly variable: string; readonly file?: string };
}

/** What a hook does: `recall` gives memories to the agent, `capture` saves the conversation. */
export type HookKind = "recall" | "capture";
export const HOOK_KINDS: readonly HookKind[] = ["recall", "capture"];

/**
 * The events at which each kind of hook runs. The file is JSON with a list for each event under `hooks`, or
 * TOML with one list `hooks` for all.
 */
export interface Hooks extends SettingsFile, Readonly<Record<HookKind, readonly string[]>> {
  readonly format?: "toml";
  /** Selects some of an event's occurrences, in the agent's syntax. */
  readonly matchers?: Readonly<Record<string, string>>;
  /** Whether an event's list has groups with a list `hooks` each (default), or the hooks themselves. */
  readonly isGrouped?: boolean;
  /** Time after which the agent continues without a hook's answer, in its unit. Default: 10 s. */
  readonly timeout?: number;
  /** Other fields that the file needs. */
  readonly beside?: Fields;
  /** What to do by hand, as sentences. */
  readonly note?: string;
}

/** A plugin that runs the hook commands, for a client without hooks. */
export interface Plugin extends SettingsFile {
  /** The client whose plugins it loads. */
  readonly host: "opencode" | "pi" | "openclaw";
  /** Other files of the plugin, in JSON, by their names in its folder. */
  readonly beside?: Readonly<Record<string, Fields>>;
  /** What the client's own file needs to load it. */
  readonly setting?: { readonly path: readonly string[]; readonly value: Fields };
}

/** An MCP client that is configured by a file. */
export interface Client extends SettingsFile {
  readonly id: string;
  /** Its usual name. */
  readonly name: string;
  readonly format: "json" | "toml" | "yaml";
  /** A folder that exists once the client has run, when the file's folder may not. */
  readonly installMarker?: string;
  /** The path of the keys under which the file has all servers by name. */
  readonly servers: readonly string[];
  /** Whether the servers are a list of fields with a `name`. Only in YAML. */
  readonly isList?: boolean;
  /** What a new file must have besides the servers. */
  readonly beside?: Fields;
  readonly local: (launch: Launch) => Fields;
  readonly remote: (remote: Remote) => Fields;
  /**
   * Its command that adds the remote server `URL` with sign-in. It has no key, because other users of a
   * machine see the arguments of every program.
   */
  readonly addCommand?: string;
  /** Its command that lists its servers, and if possible tries them, with variables before it as in a shell. */
  readonly checkCommand?: string;
  /** Fields of its entry that let it use tools without asking, or `rule` for one in its hooks' settings. */
  readonly approval?: Fields | "rule";
  readonly hooks?: Hooks;
  readonly plugin?: Plugin;
  /** What to do after the file has changed, as the end of a sentence. */
  readonly reload: string;
  /** How to sign in to a server without a key, as the end of a sentence. */
  readonly signIn: string;
  /** What else a person should know, as sentences in Markdown for its help page. */
  readonly remark?: string;
}

type Path = string | Places;

/** How most clients sign in. */
export const DEFAULT_SIGN_IN = "follow the page that opens in the browser";

/** A client in a table. What is omitted is as with most clients. */
export interface Row extends Omit<Partial<Client>, "file" | "servers" | "hooks" | "plugin"> {
  readonly id: string;
  readonly name: string;
  readonly file: Path;
  readonly servers?: string | readonly string[];
  readonly hooks?: Omit<Hooks, "file"> & { readonly file: Path };
  readonly plugin?: Omit<Plugin, "file"> & { readonly file: Path };
  /** The field `type` of its entries. */
  readonly types?: { readonly local?: string; readonly remote?: string };
  /** The fields of a remote server's entry. */
  readonly fields?: { readonly url?: string; readonly headers?: string };
  /** Fields at the end of its entries. */
  readonly after?: Fields;
  /** The folder of its files, and the variable that names another one. */
  readonly folder?: { readonly variable: string; readonly path: string };
}

export function toClient({
  types,
  fields,
  after,
  file,
  folder,
  servers = "mcpServers",
  hooks,
  plugin,
  ...row
}: Row): Client {
  const movable = (path: Path) => ({ ...pathVariableOf(path, folder), file: placesOf(path) });
  return {
    format: "json",
    servers: [servers].flat(),
    reload: `start ${row.name} again`,
    signIn: DEFAULT_SIGN_IN,
    local: ({ command, args }) => ({ ...typed(types?.local), command, args, ...after }),
    remote: ({ url, key }) => ({
      ...typed(types?.remote),
      [fields?.url ?? "url"]: url,
      ...withHeaders(key, row.id, fields?.headers),
      ...after,
    }),
    ...movable(file),
    ...row,
    ...(hooks && { hooks: { ...hooks, ...movable(hooks.file) } }),
    ...(plugin && { plugin: { ...plugin, ...movable(plugin.file) } }),
  };
}

/** How a variable moves a file; nothing for a file that is not in the folder. */
function pathVariableOf(path: Path, folder: Row["folder"]): Pick<SettingsFile, "pathVariable"> {
  if (!folder || typeof path !== "string" || !path.startsWith(`${folder.path}/`)) return {};
  const file = path.slice(folder.path.length + 1);
  return { pathVariable: { variable: folder.variable, file } };
}

const typed = (type: string | undefined) => (type === undefined ? {} : { type });

function placesOf(path: Path): Places {
  return typeof path === "string" ? { linux: path, macos: path, windows: path } : path;
}

/**
 * The field of an entry with the headers of every request: the key, and the agent that is recorded with new
 * memories. None when the person signs in.
 */
export function withHeaders(key: string | null, agent: string, field = "headers"): Fields {
  if (key === null) return {};
  return { [field]: { Authorization: `Bearer ${key}`, "ctxd-agent": agent } };
}

/** A client can't be configured. `message` is the one line that the user sees. */
export class ConnectError extends CtxdError {
  override readonly name = "ConnectError";
  readonly code = "connect_failed";
}

/** The result of reading a client's files; `otherwise` if one is damaged or can't be read. */
export function unlessDamaged<Result>(read: () => Result, otherwise: Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConnectError) return otherwise;
    throw error;
  }
}
