import { type Client, everywhere, type Fields } from "./client.ts";

/** What hooks are for: an agent is told what is known, or what is said is saved. */
export type HookKind = "recall" | "capture";
export const HOOK_KINDS: readonly HookKind[] = ["recall", "capture"];

/** An event of an agent at which a program may run. */
interface Event {
  readonly name: string;
  readonly kind: HookKind;
  /** Which of these events, in the agent's words. */
  readonly matcher?: string;
}

/** An agent that runs programs of its person's at its events, as its settings have it. */
export interface HookAgent {
  readonly id: string;
  /** The file that has the hooks: JSON with a list for each event under `hooks`. */
  readonly settings: Pick<Client, "file" | "orAt" | "movedBy">;
  readonly events: readonly Event[];
  /** What such a file needs beside its hooks. */
  readonly beside?: Fields;
  /** An entry of an event's list; what it runs is `command`, by itself or in a list `hooks`. */
  readonly entry: (command: string, event: Event) => Fields;
  /** What is to be done by hand: sentences. */
  readonly note?: string;
}

/** Seconds after which an agent goes on without an answer: a hook takes a tenth of one. */
const TIMEOUT = 10;

const grouped = (command: string, { matcher }: Event, timeout = TIMEOUT) => ({
  ...(matcher !== undefined && { matcher }),
  hooks: [{ type: "command", command, timeout }],
});

/** Not when a session is resumed: it still has what it was told. */
const BEGINNINGS = "startup|clear|compact";

export const HOOK_AGENTS: readonly HookAgent[] = [
  {
    // https://code.claude.com/docs/en/hooks
    id: "claude-code",
    settings: {
      file: everywhere("~/.claude/settings.json"),
      movedBy: { variable: "CLAUDE_CONFIG_DIR", file: "settings.json" },
    },
    events: [
      { name: "SessionStart", kind: "recall", matcher: BEGINNINGS },
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
      movedBy: { variable: "CODEX_HOME", file: "hooks.json" },
    },
    events: [
      { name: "SessionStart", kind: "recall", matcher: BEGINNINGS },
      { name: "UserPromptSubmit", kind: "recall" },
      { name: "Stop", kind: "capture" },
      { name: "PreCompact", kind: "capture" },
    ],
    entry: grouped,
    note: "Codex runs hooks that you trust: type /hooks there. Versions before 2026 need codex_hooks = true under [features] in config.toml.",
  },
  {
    // https://geminicli.com/docs/hooks/reference: a matcher is one word, and times are in milliseconds.
    id: "gemini",
    settings: { file: everywhere("~/.gemini/settings.json") },
    events: [
      { name: "SessionStart", kind: "recall" },
      { name: "BeforeAgent", kind: "recall" },
      { name: "AfterAgent", kind: "capture" },
      { name: "PreCompress", kind: "capture" },
      { name: "SessionEnd", kind: "capture" },
    ],
    entry: (command, event) => grouped(command, event, TIMEOUT * 1_000),
  },
  {
    // https://cursor.com/docs/agent/hooks: only the beginning of a conversation can be told something.
    id: "cursor",
    settings: { file: everywhere("~/.cursor/hooks.json") },
    events: [
      { name: "sessionStart", kind: "recall" },
      { name: "beforeSubmitPrompt", kind: "capture" },
      { name: "afterAgentResponse", kind: "capture" },
    ],
    beside: { version: 1 },
    entry: (command) => ({ command, timeout: TIMEOUT }),
  },
];

/** How an agent's hooks are set up; null for one whose settings know none. */
export function findHookAgent(id: string): HookAgent | null {
  return HOOK_AGENTS.find((agent) => agent.id === id) ?? null;
}
