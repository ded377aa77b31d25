import { type Client, type Row, SERVER_NAME, toClient, withHeaders } from "./client.ts";

/** Excludes resumed sessions, which still contain the recalled memories. */
const SESSION_STARTS = "startup|clear|compact";
const ADD = "mcp add --scope user --transport http ctxd URL";

const ROWS: readonly Row[] = [
  {
    // https://code.claude.com/docs/en/hooks
    id: "claude-code",
    name: "Claude Code",
    file: "~/.claude.json",
    pathVariable: { variable: "CLAUDE_CONFIG_DIR", file: ".claude.json" },
    installMarker: "~/.claude",
    types: { local: "stdio", remote: "http" },
    addCommand: `claude ${ADD}`,
    checkCommand: "claude mcp list",
    approval: "rule",
    hooks: {
      file: "~/.claude/settings.json",
      pathVariable: { variable: "CLAUDE_CONFIG_DIR", file: "settings.json" },
      recall: ["SessionStart", "UserPromptSubmit"],
      capture: ["Stop", "PreCompact", "SessionEnd"],
      matchers: { SessionStart: SESSION_STARTS },
    },
    reload: "start a new session",
    signIn: "type /mcp and choose ctxd",
  },
  {
    // https://developers.openai.com/codex/hooks
    id: "codex",
    name: "Codex",
    format: "toml",
    file: "~/.codex/config.toml",
    pathVariable: { variable: "CODEX_HOME", file: "config.toml" },
    servers: "mcp_servers",
    fields: { headers: "http_headers" },
    checkCommand: "codex mcp list",
    // https://developers.openai.com/codex/config-reference
    approval: { default_tools_approval_mode: "approve" },
    hooks: {
      file: "~/.codex/hooks.json",
      pathVariable: { variable: "CODEX_HOME", file: "hooks.json" },
      recall: ["SessionStart", "UserPromptSubmit"],
      capture: ["Stop", "PreCompact"],
      matchers: { SessionStart: SESSION_STARTS },
      note: "Codex runs hooks that you trust: type /hooks there. Versions before 2026 need codex_hooks = true under [features] in config.toml.",
    },
    reload: "start a new session",
    signIn: "run codex mcp login ctxd",
  },
  {
    // https://geminicli.com/docs/hooks/reference: a matcher is one word, and timeouts are in milliseconds.
    id: "gemini",
    name: "Gemini CLI",
    file: "~/.gemini/settings.json",
    fields: { url: "httpUrl" },
    addCommand: `gemini ${ADD}`,
    // In a folder that is not trusted it would not try the servers.
    checkCommand: "GEMINI_CLI_TRUST_WORKSPACE=true gemini mcp list",
    // https://geminicli.com/docs/tools/mcp-server
    approval: { trust: true },
    hooks: {
      file: "~/.gemini/settings.json",
      recall: ["SessionStart", "BeforeAgent"],
      capture: ["AfterAgent", "PreCompress", "SessionEnd"],
      timeout: 10_000,
    },
    reload: "start Gemini CLI again",
    signIn: "type /mcp auth ctxd",
  },
  {
    id: "goose",
    name: "Goose",
    format: "yaml",
    file: {
      linux: "~/.config/goose/config.yaml",
      macos: "~/.config/goose/config.yaml",
      windows: "%APPDATA%/Block/goose/config/config.yaml",
    },
    servers: "extensions",
    local: ({ command, args }) => ({
      type: "stdio",
      name: SERVER_NAME,
      enabled: true,
      cmd: command,
      args,
      timeout: 300,
    }),
    remote: ({ url, key }) => ({
      type: "streamable_http",
      name: SERVER_NAME,
      enabled: true,
      uri: url,
      ...withHeaders(key, "goose"),
      timeout: 300,
    }),
    reload: "start a new session",
    signIn: "follow the page that opens in the browser",
  },
  {
    // https://opencode.ai/docs/mcp-servers, https://opencode.ai/docs/config, https://opencode.ai/docs/plugins
    id: "opencode",
    name: "OpenCode",
    file: "~/.config/opencode/opencode.json",
    alternatives: ["~/.config/opencode/opencode.jsonc"],
    servers: "mcp",
    local: ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true }),
    remote: ({ url, key }) => ({
      type: "remote",
      url,
      enabled: true,
      ...withHeaders(key, "opencode"),
    }),
    plugin: "~/.config/opencode/plugins/ctxd.js",
    checkCommand: "opencode mcp list",
    reload: "start OpenCode again",
    signIn: "run opencode mcp auth ctxd",
  },
  {
    // https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers
    id: "copilot-cli",
    name: "GitHub Copilot CLI",
    file: "~/.copilot/mcp-config.json",
    pathVariable: { variable: "COPILOT_HOME", file: "mcp-config.json" },
    types: { local: "local", remote: "http" },
    after: { tools: ["*"] },
    checkCommand: "copilot mcp list",
    reload: "start Copilot again",
    signIn: "follow the page that opens in the browser",
  },
  {
    // https://ampcode.com/manual#mcp
    id: "amp",
    name: "Amp",
    file: "~/.config/amp/settings.json",
    alternatives: ["~/.config/amp/settings.jsonc"],
    servers: "amp.mcpServers",
    addCommand: "amp mcp add ctxd URL",
    reload: "start Amp again",
    signIn: "follow the page that opens in the browser",
  },
  {
    // https://docs.factory.ai/cli/configuration/mcp
    id: "droid",
    name: "Factory Droid",
    file: "~/.factory/mcp.json",
    types: { local: "stdio", remote: "http" },
    addCommand: "droid mcp add ctxd URL --type http",
    reload: "start Droid again",
    signIn: "type /mcp, choose ctxd and authenticate",
  },
  {
    // https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/
    id: "qwen",
    name: "Qwen Code",
    file: "~/.qwen/settings.json",
    fields: { url: "httpUrl" },
    addCommand: `qwen ${ADD}`,
    checkCommand: "qwen mcp list",
    reload: "start Qwen Code again",
    signIn: "type /mcp, choose ctxd and authenticate",
  },
  {
    // https://docs.warp.dev/agents/capabilities/mcp
    id: "warp",
    name: "Warp",
    file: "~/.warp/.mcp.json",
    reload: "check in the settings, under Agents, MCP servers, that ctxd runs",
    signIn: "allow the sign-in that it asks for",
  },
];

/** Agents that run in a terminal. */
export const TERMINAL_CLIENTS: readonly Client[] = ROWS.map(toClient);
