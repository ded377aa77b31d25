/** The name of the entry in every client's list of servers. */
export const SERVER_NAME = "ctxd";

/** Of npm, for a client that can only start programs: passes messages on to a remote server. */
const MCP_REMOTE = "mcp-remote@0.15.1";

/** A value of a configuration file. */
export type Value = string | number | boolean | null | readonly Value[] | Fields;
export interface Fields {
  readonly [name: string]: Value;
}

/** A program on this machine: what an agent starts to speak MCP on its standard input and output. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** A server elsewhere. */
export interface Remote {
  /** The address of its MCP endpoint. */
  readonly url: string;
  /** An API key; null when the client has its person sign in. */
  readonly key: string | null;
}

/** How a program that is a client of MCP is configured, by a file. */
export interface Client {
  readonly id: string;
  /** As people know it. */
  readonly name: string;
  readonly format: "json" | "toml" | "yaml";
  /** Where the file is: `~` is the home folder, `~/.config` may be moved by XDG_CONFIG_HOME. */
  readonly file: { readonly linux: string; readonly macos: string };
  /** A variable that names another folder for the file, and the file's path in it. */
  readonly movedBy?: { readonly variable: string; readonly file: string };
  /** A folder that is there once the client has run, where it is not that of the file. */
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
const headersOf = (key: string, agent: string) => ({
  Authorization: `Bearer ${key}`,
  "ctxd-agent": agent,
});
const withHeaders = ({ key }: Remote, agent: string) =>
  key === null ? {} : { headers: headersOf(key, agent) };

/** Every client that `ctxd connect` knows, in the order of the manual. */
export const CLIENTS: readonly Client[] = [
  {
    id: "claude-code",
    name: "Claude Code",
    format: "json",
    file: { linux: "~/.claude.json", macos: "~/.claude.json" },
    movedBy: { variable: "CLAUDE_CONFIG_DIR", file: ".claude.json" },
    sign: "~/.claude",
    servers: "mcpServers",
    local: ({ command, args }) => ({ type: "stdio", command, args }),
    remote: (remote) => ({ type: "http", url: remote.url, ...withHeaders(remote, "claude-code") }),
    reload: "start a new session",
    signIn: "type /mcp and choose ctxd",
  },
  {
    id: "claude-desktop",
    name: "Claude Desktop",
    format: "json",
    file: {
      linux: "~/.config/Claude/claude_desktop_config.json",
      macos: "~/Library/Application Support/Claude/claude_desktop_config.json",
    },
    servers: "mcpServers",
    local: ({ command, args }) => ({ command, args }),
    // The file takes programs only. An argument with a space in it does not arrive as one on every
    // system, which is why the header's value is in the environment.
    remote: ({ url, key }) =>
      key === null
        ? { command: "npx", args: ["-y", MCP_REMOTE, url] }
        : {
            command: "npx",
            args: [
              ...["-y", MCP_REMOTE, url],
              ...["--header", `Authorization:\${CTXD_BEARER}`],
              ...["--header", "ctxd-agent:claude-desktop"],
            ],
            env: { CTXD_BEARER: `Bearer ${key}` },
          },
    reload: "quit Claude Desktop and start it again",
    signIn: "follow the page that opens in the browser (Node.js is needed)",
  },
  {
    id: "cursor",
    name: "Cursor",
    format: "json",
    file: { linux: "~/.cursor/mcp.json", macos: "~/.cursor/mcp.json" },
    servers: "mcpServers",
    local: ({ command, args }) => ({ type: "stdio", command, args }),
    remote: (remote) => ({ url: remote.url, ...withHeaders(remote, "cursor") }),
    reload: "see that ctxd is switched on in the settings, under MCP",
    signIn: "press Connect beside ctxd there",
  },
  {
    id: "vscode",
    name: "VS Code",
    format: "json",
    file: {
      linux: "~/.config/Code/User/mcp.json",
      macos: "~/Library/Application Support/Code/User/mcp.json",
    },
    servers: "servers",
    local: ({ command, args }) => ({ type: "stdio", command, args }),
    remote: (remote) => ({ type: "http", url: remote.url, ...withHeaders(remote, "vscode") }),
    reload: "run the command MCP: List Servers and start ctxd",
    signIn: "allow the sign-in that it asks for",
  },
  {
    id: "codex",
    name: "Codex",
    format: "toml",
    file: { linux: "~/.codex/config.toml", macos: "~/.codex/config.toml" },
    movedBy: { variable: "CODEX_HOME", file: "config.toml" },
    servers: "mcp_servers",
    local: ({ command, args }) => ({ command, args }),
    remote: ({ url, key }) => ({
      url,
      ...(key !== null && { http_headers: headersOf(key, "codex") }),
    }),
    reload: "start a new session",
    signIn: "run codex mcp login ctxd",
  },
  {
    id: "gemini",
    name: "Gemini CLI",
    format: "json",
    file: { linux: "~/.gemini/settings.json", macos: "~/.gemini/settings.json" },
    servers: "mcpServers",
    local: ({ command, args }) => ({ command, args }),
    remote: (remote) => ({ httpUrl: remote.url, ...withHeaders(remote, "gemini") }),
    reload: "start Gemini CLI again",
    signIn: "type /mcp auth ctxd",
  },
  {
    id: "goose",
    name: "Goose",
    format: "yaml",
    file: { linux: "~/.config/goose/config.yaml", macos: "~/.config/goose/config.yaml" },
    servers: "extensions",
    local: ({ command, args }) => ({
      type: "stdio",
      name: SERVER_NAME,
      enabled: true,
      cmd: command,
      args,
      timeout: 300,
    }),
    remote: (remote) => ({
      type: "streamable_http",
      name: SERVER_NAME,
      enabled: true,
      uri: remote.url,
      ...withHeaders(remote, "goose"),
      timeout: 300,
    }),
    reload: "start a new session",
    signIn: "follow the page that opens in the browser",
  },
];

/** The client of an id; null for none. */
export function findClient(id: string): Client | null {
  return CLIENTS.find((client) => client.id === id) ?? null;
}

/**
 * Services that reach a server from the internet: its address must be public and begin with https.
 * They know no keys, their people sign in.
 */
export const HOSTED_CLIENTS: readonly {
  readonly id: string;
  readonly name: string;
  /** What to do, given the address of the MCP endpoint: sentences. */
  readonly steps: (url: string) => readonly string[];
}[] = [
  {
    id: "claude-ai",
    name: "Claude (claude.ai, desktop and mobile)",
    steps: (url) => [
      "Open Customize, Connectors (in older versions Settings, Connectors), press + and choose “Add custom connector”.",
      `Enter the name ctxd and the address ${url}, and leave the rest empty.`,
      "Press Connect, sign in and allow.",
    ],
  },
  {
    id: "chatgpt",
    name: "ChatGPT",
    steps: (url) => [
      "Open https://chatgpt.com/plugins, press + and choose “Add custom MCP server”.",
      `Enter the name ctxd, the server URL ${url}, and choose OAuth.`,
      "Say that you understand the risk, and press “Create as a plugin”.",
      "Sign in and allow; in a conversation, choose ctxd from the + menu.",
    ],
  },
];
