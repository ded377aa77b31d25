import { type Client, type Places, type Row, toClient, withHeaders } from "./client.ts";

/** An npm package that forwards messages to a remote server, for a client that can only start programs. */
const MCP_REMOTE = "mcp-remote@0.15.1";

/** Where the extensions of VS Code keep their files. */
const vsCodeUser = (path: string): Places => ({
  linux: `~/.config/Code/User/${path}`,
  macos: `~/Library/Application Support/Code/User/${path}`,
  windows: `%APPDATA%/Code/User/${path}`,
});
const CLINE = vsCodeUser("globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json");

const ROWS: readonly Row[] = [
  {
    id: "claude-desktop",
    name: "Claude Desktop",
    file: {
      linux: "~/.config/Claude/claude_desktop_config.json",
      macos: "~/Library/Application Support/Claude/claude_desktop_config.json",
      windows: "%APPDATA%/Claude/claude_desktop_config.json",
    },
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
    remark: "There is also [an extension](agents.md#without-a-command).",
  },
  {
    // https://cursor.com/docs/agent/hooks: only the hook at the start of a conversation can add context.
    id: "cursor",
    name: "Cursor",
    file: "~/.cursor/mcp.json",
    types: { local: "stdio" },
    hooks: {
      file: "~/.cursor/hooks.json",
      recall: ["sessionStart"],
      capture: ["beforeSubmitPrompt", "afterAgentResponse"],
      isGrouped: false,
      beside: { version: 1 },
    },
    reload: "check in the settings, under MCP, that ctxd is switched on",
    signIn: "press Connect beside ctxd there",
  },
  {
    id: "vscode",
    name: "VS Code",
    file: vsCodeUser("mcp.json"),
    servers: "servers",
    types: { local: "stdio", remote: "http" },
    reload: "run the command MCP: List Servers and start ctxd",
    signIn: "allow the sign-in that it asks for",
  },
  {
    // https://docs.windsurf.com/windsurf/cascade/mcp
    id: "windsurf",
    name: "Windsurf",
    file: "~/.codeium/windsurf/mcp_config.json",
    fields: { url: "serverUrl" },
    reload: "press the refresh button among the MCP servers of Cascade",
    signIn: "allow the sign-in that it asks for",
  },
  {
    // https://zed.dev/docs/ai/mcp, https://zed.dev/docs/configuring-zed
    id: "zed",
    name: "Zed",
    file: {
      linux: "~/.config/zed/settings.json",
      macos: "~/.config/zed/settings.json",
      windows: "%APPDATA%/Zed/settings.json",
    },
    servers: "context_servers",
    reload: "check in the settings of the agent panel that the dot beside ctxd is green",
    signIn: "authenticate there",
  },
  {
    // https://docs.cline.bot/mcp/mcp-overview
    id: "cline",
    name: "Cline",
    file: "~/.cline/data/settings/cline_mcp_settings.json",
    // Older versions of the extension for VS Code, before the command line, use a separate file.
    alternatives: [CLINE.linux, CLINE.macos, CLINE.windows],
    pathVariable: { variable: "CLINE_MCP_SETTINGS_PATH" },
    installMarker: "~/.cline",
    types: { remote: "streamableHttp" },
    reload: "check that ctxd is switched on among Cline's MCP servers",
    signIn: "authenticate there",
    remark:
      "Older versions of its extension for VS Code open their file with *Configure MCP Servers*. On the command line, Cline 3.0 keeps its servers in the folder of the first session: later ones count as the same project, unless you set `CLINE_SESSION_BACKEND_MODE=local`.",
  },
  {
    // https://docs.roocode.com/features/mcp/using-mcp-in-roo
    id: "roo",
    name: "Roo Code",
    file: vsCodeUser("globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
    types: { remote: "streamable-http" },
    reload: "check that ctxd is switched on among Roo Code's MCP servers",
    signIn: "follow the page that opens in the browser (a version that opens none needs a key)",
  },
  {
    // https://kiro.dev/docs/mcp/configuration
    id: "kiro",
    name: "Kiro",
    file: "~/.kiro/settings/mcp.json",
    installMarker: "~/.kiro",
    reload: "check that ctxd is connected among Kiro's MCP servers",
  },
  {
    // https://docs.continue.dev/customize/deep-dives/mcp, https://docs.continue.dev/reference
    id: "continue",
    name: "Continue",
    format: "yaml",
    file: "~/.continue/config.yaml",
    folder: { variable: "CONTINUE_GLOBAL_DIR", path: "~/.continue" },
    isList: true,
    beside: { name: "Local Config", version: "1.0.0", schema: "v1" },
    remote: ({ url, key }) => ({
      type: "streamable-http",
      url,
      ...(key !== null && { requestOptions: withHeaders(key, "continue") }),
    }),
    reload: "reload its configuration, or start cn again",
    signIn: "follow the page that opens in the browser (a version that opens none needs a key)",
    remark: "The servers are a list in its file. If the file has such a list, add the entry to it.",
  },
  {
    // https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html
    id: "junie",
    name: "Junie (JetBrains)",
    file: "~/.junie/mcp/mcp.json",
    installMarker: "~/.junie",
    reload: "start Junie again",
    signIn: "follow the page that opens in the browser (a version that opens none needs a key)",
    remark:
      "AI Assistant in the same IDEs takes this text too: Settings, Tools, AI Assistant, Model Context Protocol (MCP), Add, As JSON.",
  },
  {
    // https://antigravity.google/docs/mcp
    id: "antigravity",
    name: "Google Antigravity",
    file: "~/.gemini/config/mcp_config.json",
    alternatives: ["~/.gemini/antigravity/mcp_config.json"],
    installMarker: "~/.gemini/antigravity",
    fields: { url: "serverUrl" },
    reload: "press the refresh button among its MCP servers",
    signIn: "authenticate there",
    remark: "Earlier versions read `~/.gemini/antigravity/mcp_config.json`.",
  },
  {
    // https://lmstudio.ai/docs/app/mcp
    id: "lmstudio",
    name: "LM Studio",
    file: "~/.lmstudio/mcp.json",
    reload: "switch mcp/ctxd on among the tools of a chat",
    signIn: "follow the page that opens in the browser (a version that opens none needs a key)",
  },
];

/** Agents in editors and desktop apps. */
export const APP_CLIENTS: readonly Client[] = ROWS.map(toClient);
