import type { Client } from "./client.ts";
import { ConnectError } from "./connect-error.ts";
import { jsonFormat, writeJson } from "./json.ts";

/** Where Claude Code keeps what is to happen when a session begins. */
export const HOOK_SETTINGS: Pick<Client, "file" | "movedBy"> = {
  file: { linux: "~/.claude/settings.json", macos: "~/.claude/settings.json" },
  movedBy: { variable: "CLAUDE_CONFIG_DIR", file: "settings.json" },
};

const EVENT = ["hooks", "SessionStart"] as const;
/** Not when a session is resumed: it still has what it was told. */
const SESSIONS = "startup|clear|compact";
/** Seconds after which the session begins without. */
const TIMEOUT = 20;

/** The hook as settings have it: what the command prints becomes part of the conversation. */
export function hookOf(command: string) {
  return { matcher: SESSIONS, hooks: [{ type: "command", command, timeout: TIMEOUT }] };
}

/** Whether settings have a hook of ours. */
export function hasHook(text: string): boolean {
  return groupsIn(jsonFormat.read(text)).flatMap(commandsIn).some(isOurs);
}

/**
 * Settings with a hook that runs this command, or without any of ours.
 * @throws ConnectError where the settings are damaged: the end of a sentence about a file
 */
export function writeHook(text: string, command: string | null): string {
  const groups = groupsIn(jsonFormat.read(text));
  const at = groups.findIndex((group) => commandsIn(group).some(isOurs));
  const written = write(text, command, groups, at);
  if (written !== text) check(written, command, groups.length);
  return written;
}

function write(text: string, command: string | null, groups: readonly unknown[], at: number) {
  if (at < 0) {
    if (command === null) return text;
    return writeJson(text, [...EVENT, groups.length], hookOf(command));
  }
  const commands = commandsIn(groups[at]);
  const index = commands.findIndex(isOurs);
  if (command !== null) {
    if (commands[index] === command) return text;
    return writeJson(text, [...EVENT, at, "hooks", index, "command"], command);
  }
  if (commands.length > 1) return writeJson(text, [...EVENT, at, "hooks", index], null);
  return writeJson(text, groups.length > 1 ? [...EVENT, at] : EVENT, null);
}

/** @throws ConnectError when the text that is to be written is not what it should be */
function check(text: string, command: string | null, before: number): void {
  const groups = groupsIn(jsonFormat.read(text));
  const ours = groups.flatMap(commandsIn).filter(isOurs);
  const isRight = command === null ? ours.length === 0 : ours.length === 1 && ours[0] === command;
  if (isRight && Math.abs(groups.length - before) <= 1) return;
  throw new ConnectError("has hooks in a form that ctxd can't change: do it by hand");
}

function groupsIn(settings: unknown): readonly unknown[] {
  const groups = fieldOf(fieldOf(settings, "hooks"), "SessionStart") ?? [];
  if (Array.isArray(groups)) return groups;
  throw new ConnectError("has something else than a list under hooks.SessionStart: mend it first");
}

function commandsIn(group: unknown): readonly unknown[] {
  const hooks = fieldOf(group, "hooks");
  return Array.isArray(hooks) ? hooks.map((hook) => fieldOf(hook, "command")) : [];
}

/** Whether a command is one that this program wrote, be it from another folder. */
function isOurs(command: unknown): boolean {
  return typeof command === "string" && /(ctxd|\/src\/main\.ts)[^ ]* recall( |$)/.test(command);
}

function fieldOf(value: unknown, name: string): unknown {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object") throw new ConnectError(`has no object where ${name} should be`);
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
