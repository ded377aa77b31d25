import { type Client, everywhere, withHeaders } from "./client.ts";

/** An npm package that forwards messages to a remote server, for a client that can only start programs. */
const MCP_REMOTE = "mcp-remote@0.15.1";

/** Agents in editors and desktop apps. */
export const APP_CLIENTS: readonly Client[] = [
  {
    id: "claude-desktop",
    name: "Claude Desktop",
    format: "json",
    file: {
      linux: "~/.config/Claude/claude_desktop_config.json",
      macos: "~/Library/Application Support/Claude/claude_desktop_config.json",
      windows: "%APPDATA%/Claude/claude_desktop_config.json",
    },
    servers: "mcpServers",
    local: ({ command, args }) => ({ command, args }),
    // The file accepts only programs. On some systems an argument with a space is split, so the value of
    // the header is passed in the environment.
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
    file: everywhere("~/.cursor/mcp.json"),
    servers: "mcpServers",
    local: ({ command, args }) => ({ type: "stdio", command, args }),
    remote: (remote) => ({ url: remote.url, ...withHeaders(remote, "cursor") }),
    reload: "check in the settings, under MCP, that ctxd is switched on",
    signIn: "press Connect beside ctxd there",
  },
  {
    id: "vscode",
    name: "VS Code",
    format: "json",
    file: {
      linux: "~/.config/Code/User/mcp.json",
      macos: "~/Library/Application Support/Code/User/mcp.json",
      windows: "%APPDATA%/Code/User/mcp.json",
    },
    servers: "servers",
    local: ({ command, args }) => ({ type: "stdio", command, args }),
    remote: (remote) => ({ type: "http", url: remote.url, ...withHeaders(remote, "vscode") }),
    reload: "run the command MCP: List Servers and start ctxd",
    signIn: "allow the sign-in that it asks for",
  },
  {
    // https://docs.windsurf.com/windsurf/cascade/mcp
    id: "windsurf",
    name: "Windsurf",
    format: "json",
    file: everywhere("~/.codeium/windsurf/mcp_config.json"),
    servers: "mcpServers",
    local: ({ command, args }) => ({ command, args }),
    remote: (remote) => ({ serverUrl: remote.url, ...withHeaders(remote, "windsurf") }),
    reload: "press the refresh button among the MCP servers of Cascade",
    signIn: "allow the sign-in that it asks for",
  },
  {
    // https://zed.dev/docs/ai/mcp, https://zed.dev/docs/configuring-zed
    id: "zed",
    name: "Zed",
    format: "json",
    file: {
      linux: "~/.config/zed/settings.json",
      macos: "~/.config/zed/settings.json",
      windows: "%APPDATA%/Zed/settings.json",
    },
    servers: "context_servers",
    local: ({ command, args }) => ({ command, args }),
    remote: (remote) => ({ url: remote.url, ...withHeaders(remote, "zed") }),
    reload: "check in the settings of the agent panel that the dot beside ctxd is green",
    signIn: "authenticate there",
  },
  {
    // https://docs.cline.bot/mcp/mcp-overview
    id: "cline",
    name: "Cline",
    format: "json",
    file: everywhere("~/.cline/data/settings/cline_mcp_settings.json"),
    // Older versions of the extension for VS Code, before the command line, use a separate file.
    alternatives: [
      "~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      "~/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      "%APPDATA%/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    ],
    pathVariable: { variable: "CLINE_MCP_SETTINGS_PATH" },
    sign: "~/.cline",
    servers: "mcpServers",
    local: ({ command, args }) => ({ command, args }),
    remote: (remote) => ({
      type: "streamableHttp",
      url: remote.url,
      ...withHeaders(remote, "cline"),
    }),
    reload: "check that ctxd is switched on among Cline's MCP servers",
    signIn: "authenticate there",
  },
  {
    // https://docs.roocode.com/features/mcp/using-mcp-in-roo
    id: "roo",
    name: "Roo Code",
    format: "json",
    file: {
      linux:
        "~/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
      macos:
        "~/Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
      windows:
        "%APPDATA%/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
    },
    servers: "mcpServers",
    local: ({ command, args }) => ({ command, args }),
    remote: (remote) => ({
      type: "streamable-http",
      url: remote.url,
      ...withHeaders(remote, "roo"),
    }),
    reload: "check that ctxd is switched on among Roo Code's MCP servers",
    signIn: "follow the page that opens in the browser (a version that opens none needs a key)",
  },
  {
    // https://kiro.dev/docs/mcp/configuration
    id: "kiro",
    name: "Kiro",
    format: "json",
    file: everywhere("~/.kiro/settings/mcp.json"),
    sign: "~/.kiro",
    servers: "mcpServers",
    local: ({ command, args }) => ({ command, args }),
    remote: (remote) => ({ url: remote.url, ...withHeaders(remote, "kiro") }),
    reload: "check that ctxd is connected among Kiro's MCP servers",
    signIn: "follow the page that opens in the browser",
  },
  {
    // https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html
    id: "junie",
    name: "Junie (JetBrains)",
    format: "json",
    file: everywhere("~/.junie/mcp/mcp.json"),
    sign: "~/.junie",
    servers: "mcpServers",
    local: ({ command, args }) => ({ command, args }),
    remote: (remote) => ({ url: remote.url, ...withHeaders(remote, "junie") }),
    reload: "start Junie again",
    signIn: "follow the page that opens in the browser (a version that opens none needs a key)",
  },
  {
    // https://antigravity.google/docs/mcp
    id: "antigravity",
    name: "Google Antigravity",
    format: "json",
    file: everywhere("~/.gemini/config/mcp_config.json"),
    alternatives: ["~/.gemini/antigravity/mcp_config.json"],
    sign: "~/.gemini/antigravity",
    servers: "mcpServers",
    local: ({ command, args }) => ({ command, args }),
    remote: (remote) => ({ serverUrl: remote.url, ...withHeaders(remote, "antigravity") }),
    reload: "press the refresh button among its MCP servers",
    signIn: "authenticate there",
  },
  {
    // https://lmstudio.ai/docs/app/mcp
    id: "lmstudio",
    name: "LM Studio",
    format: "json",
    file: everywhere("~/.lmstudio/mcp.json"),
    servers: "mcpServers",
    local: ({ command, args }) => ({ command, args }),
    remote: (remote) => ({ url: remote.url, ...withHeaders(remote, "lmstudio") }),
    reload: "switch mcp/ctxd on among the tools of a chat",
    signIn: "follow the page that opens in the browser (a version that opens none needs a key)",
  },
];
