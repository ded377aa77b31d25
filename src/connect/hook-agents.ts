import { type Client, everywhere, type Fields } from "./client.ts";

/** What a hook does: `recall` gives memories to the agent, `capture` saves the conversation. */
export type HookKind = "recall" | "capture";
export const HOOK_KINDS: readonly HookKind[] = ["recall", "capture"];

/** An event of an agent that can run a program. */
interface Event {
  readonly name: string;
  readonly kind: HookKind;
  /** Selects some of these events, in the agent's syntax. */
  readonly matcher?: string;
}

/** An agent whose settings can run programs at its events. */
export interface HookAgent {
  readonly id: string;
  /** The file with the hooks: JSON with a list for each event under `hooks`. */
  readonly settings: Pick<Client, "file" | "alternatives" | "pathVariable">;
  readonly events: readonly Event[];
  /** Other fields that the file needs. */
  readonly beside?: Fields;
  /** An entry of an event's list, with `command` directly in it or in a list `hooks`. */
  readonly entry: (command: string, event: Event) => Fields;
  /** What to do by hand, as sentences. */
  readonly note?: string;
}

/** Seconds after which an agent continues without a hook's answer. A hook usually takes 0.1 s. */
const TIMEOUT_SECONDS = 10;

const grouped = (command: string, { matcher }: Event, timeout = TIMEOUT_SECONDS) => ({
  ...(matcher !== undefined && { matcher }),
  hooks: [{ type: "command", command, timeout }],
});

/** Excludes resumed sessions, which still contain the recalled memories. */
const SESSION_STARTS = "startup|clear|compact";

export const HOOK_AGENTS: readonly HookAgent[] = [
  {
    // https://code.claude.com/docs/en/hooks
    id: "claude-code",
    settings: {
      file: everywhere("~/.claude/settings.json"),
      pathVariable: { variable: "CLAUDE_CONFIG_DIR", file: "settings.json" },
    },
    events: [
      { name: "SessionStart", kind: "recall", matcher: SESSION_STARTS },
      { name: "UserPromptSubmit", kind: "recall" },
      { name: "Stop", kind: "capture" },
      { name: "PreCompact", kind: "capture" },
      { name: "SessionEnd", kind: "capture" },
    ],
    entry: grouped,
  },
  {
    // https://developers.openai.com/codex/hooks
    id: "codex",
    settings: {
      file: everywhere("~/.codex/hooks.json"),
      pathVariable: { variable: "CODEX_HOME", file: "hooks.json" },
    },
    events: [
      { name: "SessionStart", kind: "recall", matcher: SESSION_STARTS },
      { name: "UserPromptSubmit", kind: "recall" },
      { name: "Stop", kind: "capture" },
      { name: "PreCompact", kind: "capture" },
    ],
    entry: grouped,
    note: "Codex runs hooks that you trust: type /hooks there. Versions before 2026 need codex_hooks = true under [features] in config.toml.",
  },
  {
    // https://geminicli.com/docs/hooks/reference: a matcher is one word, and timeouts are in milliseconds.
    id: "gemini",
    settings: { file: everywhere("~/.gemini/settings.json") },
    events: [
      { name: "SessionStart", kind: "recall" },
      { name: "BeforeAgent", kind: "recall" },
      { name: "AfterAgent", kind: "capture" },
      { name: "PreCompress", kind: "capture" },
      { name: "SessionEnd", kind: "capture" },
    ],
    entry: (command, event) => grouped(command, event, TIMEOUT_SECONDS * 1_000),
  },
  {
    // https://cursor.com/docs/agent/hooks: only the hook at the start of a conversation can add context.
    id: "cursor",
    settings: { file: everywhere("~/.cursor/hooks.json") },
    events: [
      { name: "sessionStart", kind: "recall" },
      { name: "beforeSubmitPrompt", kind: "capture" },
      { name: "afterAgentResponse", kind: "capture" },
    ],
    beside: { version: 1 },
    entry: (command) => ({ command, timeout: TIMEOUT_SECONDS }),
  },
];

/** The agent with an id; null for an agent without hooks. */
export function findHookAgent(id: string): HookAgent | null {
  return HOOK_AGENTS.find((agent) => agent.id === id) ?? null;
}
