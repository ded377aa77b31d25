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

/** A server on another machine. */
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
interface Places {
  readonly linux: string;
  readonly macos: string;
  readonly windows: string;
}

/** The same path in the home folder of every system. */
export const everywhere = (path: string): Places => ({ linux: path, macos: path, windows: path });

/** The path on a system; null for an unknown system. */
export function placeOn(platform: string, { linux, macos, windows }: Places): string | null {
  const places: Readonly<Record<string, string>> = { linux, darwin: macos, win32: windows };
  return places[platform] ?? null;
}

/** An MCP client that is configured by a file. */
export interface Client {
  readonly id: string;
  /** Its usual name. */
  readonly name: string;
  readonly format: "json" | "toml" | "yaml";
  readonly file: Places;
  /** Other paths where the client looks for the file. An existing file there is used instead of a new one. */
  readonly alternatives?: readonly string[];
  /** A variable that names another folder for the file, with the file's path in it, or the file itself. */
  readonly pathVariable?: { readonly variable: string; readonly file?: string };
  /** A folder that exists once the client has run, when the file's folder may not. */
  readonly sign?: string;
  /** The key under which the file lists all servers by name. */
  readonly servers: string;
  readonly local: (launch: Launch) => Fields;
  readonly remote: (remote: Remote) => Fields;
  /** What to do after the file has changed, as the end of a sentence. */
  readonly reload: string;
  /** How to sign in to a server without a key, as the end of a sentence. */
  readonly signIn: string;
}

/** The headers of every request: the key, and the agent that is recorded with new memories. */
export const headersOf = (key: string, agent: string) => ({
  Authorization: `Bearer ${key}`,
  "ctxd-agent": agent,
});
/** The field of an entry with these headers; none when the person signs in. */
export const withHeaders = ({ key }: Remote, agent: string) =>
  key === null ? {} : { headers: headersOf(key, agent) };
