import { type Client, type Row, SERVER_NAME, toClient, withHeaders } from "./client.ts";

/** Excludes resumed sessions, which still contain the recalled memories. */
const SESSION_STARTS = "startup|clear|compact";
const ADD = "mcp add --scope user --transport http ctxd URL";

/** The events of Claude Code, which other agents have too. */
const EVENTS = {
  recall: ["SessionStart", "UserPromptSubmit"],
  capture: ["Stop", "PreCompact", "SessionEnd"],
  matchers: { SessionStart: SESSION_STARTS },
};

/** The entries of OpenCode, which programs made from it have too. */
const likeOpenCode = (id: string): Partial<Row> => ({
  servers: "mcp",
  checkCommand: `${id} mcp list`,
  local: ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true }),
  remote: ({ url, key }) => ({ type: "remote", url, enabled: true, ...withHeaders(key, id) }),
});

const ROWS: readonly Row[] = [
  {
    // https://code.claude.com/docs/en/hooks
    id: "claude-code",
    name: "Claude Code",
    file: "~/.claude.json",
    folder: { variable: "CLAUDE_CONFIG_DIR", path: "~/.claude" },
    pathVariable: { variable: "CLAUDE_CONFIG_DIR", file: ".claude.json" },
    installMarker: "~/.claude",
    types: { local: "stdio", remote: "http" },
    addCommand: `claude ${ADD}`,
    checkCommand: "claude mcp list",
    approval: "rule",
    hooks: { file: "~/.claude/settings.json", ...EVENTS },
    reload: "start a new session",
    signIn: "type /mcp and choose ctxd",
    remark: "There is also [a plugin](agents.md#without-a-command).",
  },
  {
    // https://developers.openai.com/codex/hooks
    id: "codex",
    name: "Codex",
    format: "toml",
    file: "~/.codex/config.toml",
    folder: { variable: "CODEX_HOME", path: "~/.codex" },
    servers: "mcp_servers",
    fields: { headers: "http_headers" },
    checkCommand: "codex mcp list",
    // https://developers.openai.com/codex/config-reference
    approval: { default_tools_approval_mode: "approve" },
    hooks: {
      file: "~/.codex/hooks.json",
      ...EVENTS,
      capture: ["Stop", "PreCompact"],
      note: "Codex runs hooks that you trust: type /hooks there. Versions before 2026 need codex_hooks = true under [features] in config.toml.",
    },
    reload: "start a new session",
    signIn: "run codex mcp login ctxd",
    remark:
      "If your server can't reach the site of its maker, sign in with `codex mcp login ctxd --oauth-client-registration dcr`.",
  },
  {
    // https://geminicli.com/docs/hooks/reference: a matcher is one word, and timeouts are in milliseconds.
    id: "gemini",
    name: "Gemini CLI",
    file: "~/.gemini/settings.json",
    folder: { variable: "GEMINI_CLI_HOME", path: "~" },
    fields: { url: "httpUrl" },
    addCommand: `gemini ${ADD}`,
    checkCommand: "GEMINI_CLI_TRUST_WORKSPACE=true gemini mcp list",
    // https://geminicli.com/docs/tools/mcp-server
    approval: { trust: true },
    hooks: {
      file: "~/.gemini/settings.json",
      recall: ["SessionStart", "BeforeAgent"],
      capture: ["AfterAgent", "PreCompress", "SessionEnd"],
      timeout: 10_000,
    },
    signIn: "type /mcp auth ctxd",
    remark:
      "Gemini CLI starts no servers in a folder that it does not trust. It asks when you start it there.",
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
  },
  {
    // https://opencode.ai/docs/mcp-servers, https://opencode.ai/docs/config, https://opencode.ai/docs/plugins
    id: "opencode",
    name: "OpenCode",
    file: "~/.config/opencode/opencode.json",
    alternatives: ["~/.config/opencode/opencode.jsonc"],
    ...likeOpenCode("opencode"),
    plugin: { host: "opencode", file: "~/.config/opencode/plugins/ctxd.js" },
    signIn: "run opencode mcp auth ctxd",
  },
  {
    // Made from OpenCode, whose plugins it loads. Tried with 7.7.
    id: "kilo",
    name: "Kilo Code CLI",
    file: "~/.config/kilo/kilo.json",
    alternatives: ["~/.config/kilo/kilo.jsonc"],
    ...likeOpenCode("kilo"),
    plugin: { host: "opencode", file: "~/.config/kilo/plugins/ctxd.js" },
    signIn: "run kilo mcp auth ctxd",
  },
  {
    // https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers
    id: "copilot-cli",
    name: "GitHub Copilot CLI",
    file: "~/.copilot/mcp-config.json",
    folder: { variable: "COPILOT_HOME", path: "~/.copilot" },
    types: { local: "local", remote: "http" },
    after: { tools: ["*"] },
    checkCommand: "copilot mcp list",
    // https://docs.github.com/en/copilot/reference/hooks-reference: it ignores what a hook answers to a prompt.
    hooks: {
      file: "~/.copilot/settings.json",
      recall: ["SessionStart"],
      capture: ["Stop", "PreCompact"],
      isGrouped: false,
    },
  },
  {
    // https://ampcode.com/manual#mcp
    id: "amp",
    name: "Amp",
    file: "~/.config/amp/settings.json",
    alternatives: ["~/.config/amp/settings.jsonc"],
    servers: "amp.mcpServers",
    addCommand: "amp mcp add ctxd URL",
  },
  {
    // https://docs.factory.ai/cli/configuration/mcp
    id: "droid",
    name: "Factory Droid",
    file: "~/.factory/mcp.json",
    types: { local: "stdio", remote: "http" },
    addCommand: "droid mcp add ctxd URL --type http",
    // https://docs.factory.ai/reference/hooks-reference
    hooks: { file: "~/.factory/settings.json", ...EVENTS },
    signIn: "type /mcp, choose ctxd and authenticate",
  },
  {
    // https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/
    id: "qwen",
    name: "Qwen Code",
    file: "~/.qwen/settings.json",
    folder: { variable: "QWEN_HOME", path: "~/.qwen" },
    fields: { url: "httpUrl" },
    addCommand: `qwen ${ADD}`,
    checkCommand: "qwen mcp list",
    approval: { trust: true },
    hooks: { file: "~/.qwen/settings.json", ...EVENTS },
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
  {
    // https://moonshotai.github.io/kimi-code/en/customization/mcp.html, …/hooks.html
    id: "kimi",
    name: "Kimi Code",
    file: "~/.kimi-code/mcp.json",
    folder: { variable: "KIMI_CODE_HOME", path: "~/.kimi-code" },
    hooks: {
      format: "toml",
      file: "~/.kimi-code/config.toml",
      recall: ["UserPromptSubmit"],
      capture: ["Stop", "PreCompact"],
    },
    signIn: "type /mcp-config and choose ctxd",
  },
  {
    // Versions before 1.0 have no MCP, only the extension. https://pi.dev/docs/latest/mcp, …/extensions
    id: "pi",
    name: "Pi",
    file: "~/.pi/agent/mcp.json",
    folder: { variable: "PI_CODING_AGENT_DIR", path: "~/.pi/agent" },
    installMarker: "~/.pi",
    after: { exposure: "direct" },
    addCommand: "pi mcp add ctxd --url URL",
    plugin: { host: "pi", file: "~/.pi/agent/extensions/ctxd.js" },
    signIn: "run pi mcp login ctxd",
    remark:
      "Versions before 1.0 have no MCP: they use the extension that `--recall` and `--capture` install, and `ctxd` in a shell.",
  },
  {
    // https://docs.openclaw.ai/cli/mcp
    id: "openclaw",
    name: "OpenClaw",
    file: "~/.openclaw/openclaw.json",
    pathVariable: { variable: "OPENCLAW_CONFIG_PATH" },
    checkCommand: "openclaw mcp probe",
    servers: ["mcp", "servers"],
    remote: ({ url, key }) => ({
      transport: "streamable-http",
      url,
      ...(key === null ? { auth: "oauth" } : withHeaders(key, "openclaw")),
    }),
    // https://docs.openclaw.ai/plugins/hooks: it stands beside OpenClaw's own memory, whose slot it leaves alone.
    plugin: {
      host: "openclaw",
      file: "~/.openclaw/extensions/ctxd/index.js",
      beside: {
        "package.json": {
          ...{ name: SERVER_NAME, version: "1.0.0", type: "module" },
          openclaw: { extensions: ["./index.js"] },
        },
        "openclaw.plugin.json": {
          ...{ id: SERVER_NAME, name: SERVER_NAME, activation: { onCapabilities: ["hook"] } },
          configSchema: { type: "object", additionalProperties: false },
        },
      },
      setting: {
        path: ["plugins", "entries", SERVER_NAME],
        value: { enabled: true, hooks: { allowConversationAccess: true } },
      },
    },
    reload: "start a new session",
    signIn: "run openclaw mcp login ctxd",
    remark:
      "What is captured and recalled belongs to the project of its workspace, what its model saves to that of the folder in which its Gateway was started. `openclaw agent exec` loads no plugins, so it neither recalls nor captures. If your settings have a list `plugins.allow`, add `ctxd` to it.",
  },
  {
    // https://docs.augmentcode.com/cli/integrations
    id: "auggie",
    name: "Auggie",
    file: "~/.augment/settings.json",
    types: { local: "stdio", remote: "http" },
    addCommand: "auggie mcp add ctxd --transport http --url URL",
  },
  {
    // By its documentation alone: https://hermes-agent.nousresearch.com/docs/user-guide/features/mcp
    id: "hermes",
    name: "Hermes Agent",
    format: "yaml",
    file: "~/.hermes/config.yaml",
    folder: { variable: "HERMES_HOME", path: "~/.hermes" },
    servers: "mcp_servers",
    remote: ({ url, key }) => ({
      url,
      ...(key === null ? { auth: "oauth" } : withHeaders(key, "hermes")),
    }),
    reload: "type /reload-mcp",
    remark: "This follows its documentation: nobody has tried it with ctxd.",
  },
];

/** Agents that run in a terminal. */
export const TERMINAL_CLIENTS: readonly Client[] = ROWS.map(toClient);
