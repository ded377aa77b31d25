import { type Client, everywhere, type Fields } from "./client.ts";
import { ConnectError } from "./connect-error.ts";
import { jsonFormat, writeJson } from "./json.ts";

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

/** The command that each kind of hook runs; null for no such hook. */
export type HookCommands = Readonly<Record<HookKind, string | null>>;

/** The kinds of ctxd's hooks in an agent's settings. */
export function hooksIn(agent: HookAgent, text: string): HookKind[] {
  const settings = jsonFormat.read(text);
  return HOOK_KINDS.filter((kind) =>
    agent.events.some(
      (event) =>
        event.kind === kind && listOf(settings, event.name).flatMap(commandsIn).some(isOf(kind)),
    ),
  );
}

/**
 * Adds, changes or removes ctxd's hooks in an agent's settings, so that they run exactly these commands.
 * @throws ConnectError when the settings are damaged; its message is the end of a sentence about the file
 */
export function writeHooks(agent: HookAgent, text: string, commands: HookCommands): string {
  const isWanted = HOOK_KINDS.some((kind) => commands[kind] !== null);
  let written = isWanted ? writeBeside(agent, text) : text;
  for (const event of agent.events) {
    const command = commands[event.kind];
    const list = listOf(jsonFormat.read(written), event.name);
    const next = writeEvent(written, list, {
      path: ["hooks", event.name],
      isOurs: isOf(event.kind),
      command,
      entry: command === null ? null : agent.entry(command, event),
    });
    if (next !== written)
      check(next, event.name, { command, kind: event.kind, before: list.length });
    written = next;
  }
  return written === text ? text : withoutEmpty(written);
}

function writeBeside({ beside = {} }: HookAgent, text: string): string {
  return Object.entries(beside).reduce((settings, [name, value]) => {
    const isThere = fieldOf(jsonFormat.read(settings), name) !== undefined;
    return isThere ? settings : writeJson(settings, [name], value);
  }, text);
}

function writeEvent(
  text: string,
  list: readonly unknown[],
  wanted: {
    path: readonly [string, string];
    isOurs: (command: unknown) => boolean;
    command: string | null;
    entry: Parameters<typeof writeJson>[2];
  },
): string {
  const { path, isOurs, command, entry } = wanted;
  const at = list.findIndex((one) => commandsIn(one).some(isOurs));
  if (at < 0) return entry === null ? text : writeJson(text, [...path, list.length], entry);
  const commands = commandsIn(list[at]);
  const index = commands.findIndex(isOurs);
  const place = isGroup(list[at]) ? [...path, at, "hooks", index] : [...path, at];
  if (command !== null) {
    return commands[index] === command ? text : writeJson(text, [...place, "command"], command);
  }
  if (commands.length > 1) return writeJson(text, place, null);
  return writeJson(text, list.length > 1 ? [...path, at] : path, null);
}

/** @throws ConnectError when the new text does not have the wanted hooks */
function check(
  text: string,
  event: string,
  { command, kind, before }: { command: string | null; kind: HookKind; before: number },
): void {
  const list = listOf(jsonFormat.read(text), event);
  const ours = list.flatMap(commandsIn).filter(isOf(kind));
  const isRight = command === null ? ours.length === 0 : ours.length === 1 && ours[0] === command;
  if (isRight && Math.abs(list.length - before) <= 1) return;
  throw new ConnectError("has hooks in a form that ctxd can't change: do it by hand");
}

/** Removes `hooks` when it is empty. */
function withoutEmpty(text: string): string {
  const hooks = fieldOf(jsonFormat.read(text), "hooks");
  const isEmpty = typeof hooks === "object" && hooks !== null && Object.keys(hooks).length === 0;
  return isEmpty ? writeJson(text, ["hooks"], null) : text;
}

function listOf(settings: unknown, event: string): readonly unknown[] {
  const list = fieldOf(fieldOf(settings, "hooks"), event) ?? [];
  if (Array.isArray(list)) return list;
  throw new ConnectError(`has no list under hooks.${event}: correct it first`);
}

function isGroup(entry: unknown): boolean {
  return Array.isArray(fieldOf(entry, "hooks"));
}

function commandsIn(entry: unknown): readonly unknown[] {
  const hooks = fieldOf(entry, "hooks");
  if (Array.isArray(hooks)) return hooks.map((hook) => fieldOf(hook, "command"));
  return [fieldOf(entry, "command")];
}

/** Creates a test for commands that ctxd wrote, also those of a ctxd in another folder. */
function isOf(kind: HookKind): (command: unknown) => boolean {
  const pattern = new RegExp(`(ctxd|/src/main\\.ts)[^ ]* ${kind}( |$)`);
  return (command) => typeof command === "string" && pattern.test(command);
}

function fieldOf(value: unknown, name: string): unknown {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object") throw new ConnectError(`has no object where ${name} should be`);
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
