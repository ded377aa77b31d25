/** The name of the entry in every client's list of servers. */
export const SERVER_NAME = "ctxd";

/** A value of a configuration file. */
export type Value = string | number | boolean | null | readonly Value[] | Fields;
export interface Fields {
  readonly [name: string]: Value;
}

/** A program on this machine: what an agent starts to speak MCP on its standard input and output. */
interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** A server elsewhere. */
interface Remote {
  /** The address of its MCP endpoint. */
  readonly url: string;
  /** An API key; null when the client has its person sign in. */
  readonly key: string | null;
}

/**
 * Where a file is on each system: `~` is the home folder, `~/.config` may be moved by XDG_CONFIG_HOME,
 * `%APPDATA%` is where Windows has settings of programs.
 */
export interface Places {
  readonly linux: string;
  readonly macos: string;
  readonly windows: string;
}

/** The same place in every home folder. */
export const everywhere = (path: string): Places => ({ linux: path, macos: path, windows: path });

/** The place on a system; null where that is not known. */
export function placeOn(platform: string, { linux, macos, windows }: Places): string | null {
  const places: Readonly<Record<string, string>> = { linux, darwin: macos, win32: windows };
  return places[platform] ?? null;
}

/** How a program that is a client of MCP is configured, by a file. */
export interface Client {
  readonly id: string;
  /** As people know it. */
  readonly name: string;
  readonly format: "json" | "toml" | "yaml";
  readonly file: Places;
  /** Other places where the client looks for the file: one that is there wins over a new file. */
  readonly orAt?: readonly string[];
  /** A variable that names another folder for the file, and the file's path in it; or the file itself. */
  readonly movedBy?: { readonly variable: string; readonly file?: string };
  /** A folder that is there once the client has run, where that of the file may not be. */
  readonly sign?: string;
  /** The key in the file that holds all servers by their names. */
  readonly servers: string;
  readonly local: (launch: Launch) => Fields;
  readonly remote: (remote: Remote) => Fields;
  /** What to do when the file has changed: the end of a sentence. */
  readonly reload: string;
  /** What to do to sign in to a server without a key: the end of a sentence. */
  readonly signIn: string;
}

/** What goes with every request: the key, and the agent that new memories belong to. */
export const headersOf = (key: string, agent: string) => ({
  Authorization: `Bearer ${key}`,
  "ctxd-agent": agent,
});
/** Them for an entry; nothing where the person signs in. */
export const withHeaders = ({ key }: Remote, agent: string) =>
  key === null ? {} : { headers: headersOf(key, agent) };
