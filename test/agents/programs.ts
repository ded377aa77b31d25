import type { Programs } from "./install.ts";
import { MODEL } from "./model/stand-in.ts";

/** A real agent of the npm registry, and how it is driven without a terminal and without its maker's service. */
export interface Program {
  /** Its id for `ctxd connect`. */
  readonly id: string;
  readonly package: string;
  /** The lock file that has its package. */
  readonly programs: Programs;
  /** The file in `node_modules` that starts it. */
  readonly file: string;
  /** Whether Node.js runs that file. */
  readonly isScript?: boolean;
  /** Its settings, by path in the home folder, by which it speaks to a model at an address. */
  readonly files?: (origin: string) => Readonly<Record<string, unknown>>;
  /** The same by variables, and others that switch off telemetry and updates. */
  readonly env?: (origin: string) => Readonly<Record<string, string>>;
  /** The arguments by which it lists its MCP servers, and what it then says of ctxd; null if it has no list. */
  readonly list: { readonly args: readonly string[]; readonly says: RegExp } | null;
  /** Whether it ends without waiting for its hooks, so that on a busy machine the last turn may not be captured. */
  readonly leavesHooks?: boolean;
  /** Whether it asks its model before its servers have answered, so that the first request has their tools by chance. */
  readonly asksEarly?: boolean;
  /** The arguments for one prompt in a new session; null if only its maker's service can answer it. */
  readonly prompt: ((text: string) => readonly string[]) | null;
}

type Row = Omit<Program, "programs">;

/** The folder of a native program's package, which has the system in its name. */
const SYSTEM = `${process.platform}-${process.arch}`;

/** OpenCode, and what is made of it. */
const likeOpenCode = (name: string, prefix: string) => ({
  files: (origin: string) => ({
    [`.config/${name}/opencode.json`]: {
      model: `here/${MODEL}`,
      small_model: `here/${MODEL}`,
      autoupdate: false,
      share: "disabled",
      provider: {
        here: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: `${origin}/v1`, apiKey: "none" },
          models: { [MODEL]: { name: MODEL } },
        },
      },
    },
    // It installs this package before it loads plugins, unless it is there.
    [`.config/${name}/node_modules/.keep`]: "",
    [`.config/${name}/package-lock.json`]: {
      packages: {
        "": { dependencies: { [`@${name === "kilo" ? "kilocode" : "opencode-ai"}/plugin`]: "*" } },
      },
    },
  }),
  env: () => ({ [`${prefix}_DISABLE_MODELS_FETCH`]: "1", [`${prefix}_DISABLE_AUTOUPDATE`]: "1" }),
  list: { args: ["mcp", "list"], says: /ctxd.*connected/ },
  prompt: (text: string) => ["run", text],
});

/** The agents whose packages are in the lock file of every run: each needs some seconds for a session. */
const OF_EVERY_RUN: readonly Row[] = [
  {
    id: "claude-code",
    package: "@anthropic-ai/claude-code",
    file: ".bin/claude",
    files: () => ({ ".claude.json": { hasCompletedOnboarding: true } }),
    env: (origin) => ({
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_MODEL: MODEL,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
    list: { args: ["mcp", "list"], says: /^ctxd: .*Connected$/m },
    prompt: (text) => ["--print", text],
  },
  {
    id: "codex",
    package: "@openai/codex",
    file: ".bin/codex",
    isScript: true,
    files: (origin) => ({
      ".codex/config.toml": [
        `model = "${MODEL}"`,
        'model_provider = "here"',
        "check_for_update_on_startup = false",
        "",
        "[model_providers.here]",
        'name = "here"',
        `base_url = "${origin}/v1"`,
        'wire_api = "responses"',
        "",
        "[analytics]",
        "enabled = false",
        "",
      ].join("\n"),
    }),
    list: { args: ["mcp", "list"], says: /^ctxd .* enabled/m },
    prompt: (text) => ["exec", "--dangerously-bypass-hook-trust", text],
  },
  {
    id: "copilot-cli",
    package: "@github/copilot",
    file: ".bin/copilot",
    leavesHooks: true,
    files: () => ({ ".copilot/config.json": { banner: "never" } }),
    env: (origin) => ({
      COPILOT_PROVIDER_BASE_URL: `${origin}/v1`,
      COPILOT_MODEL: MODEL,
      COPILOT_OFFLINE: "true",
    }),
    list: { args: ["mcp", "list"], says: /ctxd \(local\)/ },
    prompt: (text) => ["--allow-all-tools", "--prompt", text],
  },
];

/** The others, which together are some gigabytes. */
const OF_LONG_RUN: readonly Row[] = [
  {
    id: "gemini",
    package: "@google/gemini-cli",
    file: ".bin/gemini",
    isScript: true,
    files: () => ({
      ".gemini/settings.json": {
        security: { auth: { selectedType: "gemini-api-key" } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
      },
    }),
    env: (origin) => ({
      GEMINI_API_KEY: "none",
      GOOGLE_GEMINI_BASE_URL: origin,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
    list: { args: ["mcp", "list"], says: /ctxd: .*Connected/ },
    prompt: (text) => ["--model", MODEL, "--prompt", text],
  },
  {
    id: "opencode",
    package: "opencode-ai",
    file: `opencode-${SYSTEM}/bin/opencode`,
    ...likeOpenCode("opencode", "OPENCODE"),
  },
  {
    id: "kilo",
    package: "@kilocode/cli",
    file: `@kilocode/cli-${SYSTEM}/bin/kilo`,
    ...likeOpenCode("kilo", "KILO"),
  },
  {
    id: "kimi",
    package: "@moonshot-ai/kimi-code",
    file: ".bin/kimi",
    isScript: true,
    files: (origin) => ({
      ".kimi-code/config.toml": [
        `default_model = "${MODEL}"`,
        "telemetry = false",
        "",
        "[providers.here]",
        'type = "openai"',
        `base_url = "${origin}/v1"`,
        'api_key = "none"',
        "",
        `[models.${MODEL}]`,
        'provider = "here"',
        `model = "${MODEL}"`,
        "max_context_size = 128000",
        "",
      ].join("\n"),
    }),
    env: () => ({ KIMI_CODE_NO_AUTO_UPDATE: "1" }),
    list: null,
    prompt: (text) => ["--prompt", text],
  },
  {
    id: "pi",
    package: "@earendil-works/pi-coding-agent",
    file: ".bin/pi",
    isScript: true,
    files: (origin) => ({
      ".pi/agent/models.json": {
        providers: {
          here: {
            ...{ baseUrl: `${origin}/v1`, api: "openai-completions", apiKey: "none" },
            models: [{ id: MODEL }],
          },
        },
      },
    }),
    env: () => ({ PI_OFFLINE: "1", PI_TELEMETRY: "0" }),
    list: { args: ["mcp", "list"], says: /ctxd/ },
    prompt: (text) => ["--provider", "here", "--model", MODEL, "--print", text],
  },
  {
    id: "droid",
    package: "droid",
    file: `@factory/cli-${SYSTEM}/bin/droid`,
    asksEarly: true,
    files: (origin) => ({
      ".factory/settings.json": {
        customModels: [
          {
            ...{ model: MODEL, displayName: MODEL, apiKey: "none", maxOutputTokens: 4_096 },
            ...{ baseUrl: `${origin}/v1`, provider: "generic-chat-completion-api" },
          },
        ],
        cloudSessionSync: false,
      },
    }),
    env: () => ({ FACTORY_API_KEY: "fk-none", FACTORY_DROID_AUTO_UPDATE_ENABLED: "false" }),
    list: { args: ["mcp", "list"], says: /ctxd/ },
    prompt: (text) => ["exec", "--auto", "high", "--model", `custom:${MODEL}-0`, text],
  },
  {
    id: "qwen",
    package: "@qwen-code/qwen-code",
    file: ".bin/qwen",
    isScript: true,
    files: () => ({
      ".qwen/settings.json": {
        security: { auth: { selectedType: "openai" } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      },
    }),
    env: (origin) => ({
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: `${origin}/v1`,
      OPENAI_MODEL: MODEL,
    }),
    list: { args: ["mcp", "list"], says: /ctxd: .*Connected/ },
    prompt: (text) => ["--approval-mode", "yolo", "--prompt", text],
  },
  {
    id: "cline",
    package: "cline",
    file: `@cline/cli-${SYSTEM}/bin/cline`,
    files: (origin) => ({
      ".cline/data/settings/providers.json": {
        ...{ version: 1, lastUsedProvider: "openai-compatible", modes: {} },
        providers: {
          "openai-compatible": {
            settings: {
              ...{ provider: "openai-compatible", apiKey: "none", model: MODEL },
              baseUrl: `${origin}/v1`,
            },
            ...{ updatedAt: "2026-11-25T00:00:00.000Z", tokenSource: "manual" },
          },
        },
      },
    }),
    // Otherwise it leaves a process behind, in which the servers of all later sessions run in the folder of this one.
    env: () => ({ CLINE_NO_AUTO_UPDATE: "1", CLINE_SESSION_BACKEND_MODE: "local" }),
    list: null,
    prompt: (text) => ["--auto-approve", "true", text],
  },
  {
    id: "continue",
    package: "@continuedev/cli",
    file: ".bin/cn",
    isScript: true,
    files: (origin) => ({
      ".continue/config.yaml": [
        "name: here",
        "version: 1.0.0",
        "schema: v1",
        "models:",
        `  - name: ${MODEL}`,
        "    provider: openai",
        `    model: ${MODEL}`,
        `    apiBase: ${origin}/v1`,
        "    apiKey: none",
        "    roles: [chat]",
        "    capabilities: [tool_use]",
        "",
      ].join("\n"),
    }),
    env: () => ({ CONTINUE_TELEMETRY_ENABLED: "0" }),
    list: null,
    prompt: (text) => ["--auto", "--print", text],
  },
  {
    id: "amp",
    package: "@sourcegraph/amp",
    file: `@ampcode/cli-${SYSTEM}/amp`,
    files: () => ({ ".config/amp/settings.json": { "amp.updates.mode": "disabled" } }),
    list: { args: ["mcp", "list"], says: /^ +ctxd +command /m },
    prompt: null,
  },
  {
    id: "auggie",
    package: "@augmentcode/auggie",
    file: ".bin/auggie",
    isScript: true,
    files: () => ({ ".augment/settings.json": {} }),
    list: { args: ["mcp", "list"], says: /ctxd +stdio/ },
    prompt: null,
  },
];

const OPENCLAW: Row = {
  id: "openclaw",
  package: "openclaw",
  file: ".bin/openclaw",
  isScript: true,
  files: (origin) => ({
    ".openclaw/openclaw.json": {
      models: {
        providers: {
          here: {
            ...{ baseUrl: `${origin}/v1`, api: "openai-completions", apiKey: "none" },
            models: [{ id: MODEL, name: MODEL }],
          },
        },
      },
      agents: {
        defaults: {
          model: { primary: `here/${MODEL}` },
          // It works where it is started, and writes no files there.
          ...{ workspace: ".", skipBootstrap: true },
        },
      },
    },
  }),
  list: { args: ["mcp", "probe"], says: /^- ctxd: 7 tools/m },
  // `agent exec` loads no plugins.
  prompt: (text) => [
    ...["agent", "--local", "--agent", "main"],
    ...["--session-id", crypto.randomUUID(), "--message", text],
  ],
};

const of =
  (programs: Programs) =>
  (row: Row): Program => ({ ...row, programs });
export const PROGRAMS: readonly Program[] = [
  ...OF_EVERY_RUN.map(of("every-run")),
  ...OF_LONG_RUN.map(of("long-run")),
  of("openclaw")(OPENCLAW),
];

export function findProgram(id: string): Program {
  const found = PROGRAMS.find((each) => each.id === id);
  if (!found) throw new Error(`there is no program ${id}`);
  return found;
}
