import {
  ConnectError,
  type Fields,
  HOOK_KINDS,
  type HookKind,
  type Hooks,
  SERVER_NAME,
  unlessDamaged,
} from "./client.ts";
import { tomlFormat, writeToml } from "./format.ts";
import { jsonFormat, removeJson, writeJson } from "./json.ts";

/** Seconds after which an agent continues without a hook's answer. A hook itself gives up earlier. */
export const TIMEOUT_SECONDS = 10;

/** The events of an agent at which ctxd's hooks run. */
export function eventsOf(hooks: Hooks): { name: string; kind: HookKind }[] {
  return HOOK_KINDS.flatMap((kind) => hooks[kind].map((name) => ({ name, kind })));
}

function entryOf(hooks: Hooks, command: string, event: string): Fields {
  const { format, isGrouped = true, matchers = {}, timeout = TIMEOUT_SECONDS } = hooks;
  if (format === "toml") return { event, command, timeout };
  if (!isGrouped) return { command, timeout };
  const matcher = matchers[event];
  return {
    ...(matcher !== undefined && { matcher }),
    hooks: [{ type: "command", command, timeout }],
  };
}

interface WantedHook {
  hooks: Hooks;
  name: string;
  kind: HookKind;
  command: string | null;
  former: string;
}

/** The command that each kind of hook runs; null for no such hook. */
export type HookCommands = Readonly<Record<HookKind, string | null>>;

/** The commands of ctxd's hooks in an agent's settings. */
export function commandsOfHooks(hooks: Hooks, text: string): HookCommands {
  const commandOf = (kind: HookKind) =>
    hooks[kind]
      .flatMap((event) => listOf(hooks, text, event).flatMap(commandsIn))
      .find(isCommandOf(kind)) ?? null;
  return { recall: commandOf("recall"), capture: commandOf("capture") };
}

/** The kinds of ctxd's hooks in an agent's settings. */
export function hooksIn(hooks: Hooks, text: string): HookKind[] {
  const commands = commandsOfHooks(hooks, text);
  return HOOK_KINDS.filter((kind) => commands[kind] !== null);
}

/**
 * Adds, changes or removes ctxd's hooks in an agent's settings, so that they run exactly these commands. What
 * was added for them goes with the last of them, unless `former` has it.
 * @param former the settings before ctxd changed them; empty for a new file
 * @throws ConnectError when the settings are damaged; its message is the end of a sentence about the file
 */
export function writeHooks(
  hooks: Hooks,
  text: string,
  commands: HookCommands,
  former = "",
): string {
  const isWanted = HOOK_KINDS.some((kind) => commands[kind] !== null);
  let written = isWanted ? addBeside(hooks, text) : text;
  for (const { name, kind } of eventsOf(hooks)) {
    const wanted = { hooks, name, kind, command: commands[kind], former };
    const before = listOf(hooks, written, name);
    const next =
      hooks.format === "toml" ? writeTable(written, wanted) : writeEvent(written, before, wanted);
    if (next !== written) check(next, { ...wanted, before: before.length });
    written = next;
  }
  return written === text || isWanted ? written : removeBeside(hooks, written, former);
}

/** The same as `writeEvent` for a list of tables, each with its event. */
function writeTable(text: string, { hooks, name, kind, command }: WantedHook): string {
  const all = tablesIn(text);
  const isOurs = isCommandOf(kind);
  const at = all.findIndex((each) => fieldOf(each, "event") === name && isOurs(commandIn(each)));
  if (at < 0 ? command === null : commandIn(all[at]) === command) return text;
  const entry = command === null ? null : entryOf(hooks, command, name);
  return writeToml(text, ["hooks", at < 0 ? all.length : at], entry);
}

function addBeside({ beside = {} }: Hooks, text: string): string {
  return Object.entries(beside).reduce((settings, [name, value]) => {
    const isThere = fieldOf(jsonFormat.read(settings), name) !== undefined;
    return isThere ? settings : writeJson(settings, [name], value);
  }, text);
}

/** Removes the other fields that ctxd's hooks needed, unless hooks that were added since need them. */
function removeBeside({ beside = {} }: Hooks, text: string, former: string): string {
  return Object.entries(beside).reduce((written, [name, value]) => {
    const [settings, before] = [jsonFormat.read(written), jsonFormat.read(former)];
    const isNeeded = fieldOf(settings, "hooks") && !fieldOf(before, "hooks");
    const isOurs = fieldOf(settings, name) === value && fieldOf(before, name) === undefined;
    return isOurs && !isNeeded ? removeJson(written, [name], former) : written;
  }, text);
}

function writeEvent(
  text: string,
  list: readonly unknown[],
  { hooks, name, kind, command, former }: WantedHook,
): string {
  const path = ["hooks", name];
  const isOurs = isCommandOf(kind);
  const at = list.findIndex((one) => commandsIn(one).some(isOurs));
  if (at < 0) {
    if (command === null) return text;
    return writeJson(text, [...path, list.length], entryOf(hooks, command, name));
  }
  const commands = commandsIn(list[at]);
  const index = commands.findIndex(isOurs);
  const place = isGroup(list[at]) ? [...path, at, "hooks", index] : [...path, at];
  if (command !== null) {
    return commands[index] === command ? text : writeJson(text, [...place, "command"], command);
  }
  return removeJson(text, commands.length > 1 ? place : [...path, at], former);
}

/** @throws ConnectError when the new text does not have the wanted hooks */
function check(
  text: string,
  { hooks, name, kind, command, before }: WantedHook & { before: number },
) {
  const list = unlessDamaged(() => listOf(hooks, text, name), null);
  const ours = list?.flatMap(commandsIn).filter(isCommandOf(kind)) ?? [];
  const isRight = command === null ? ours.length === 0 : ours.length === 1 && ours[0] === command;
  if (list && isRight && Math.abs(list.length - before) <= 1) return;
  throw new ConnectError("has hooks in a form that ctxd can't change: do it by hand");
}

/** What an agent's settings have for an event. */
function listOf({ format }: Hooks, text: string, event: string): readonly unknown[] {
  if (format === "toml") return tablesIn(text).filter((each) => fieldOf(each, "event") === event);
  const list = fieldOf(fieldOf(jsonFormat.read(text), "hooks"), event) ?? [];
  if (Array.isArray(list)) return list;
  throw new ConnectError(`has no list under hooks.${event}: correct it first`);
}

function tablesIn(text: string): readonly unknown[] {
  const list = fieldOf(tomlFormat.read(text), "hooks") ?? [];
  if (Array.isArray(list)) return list;
  throw new ConnectError("has no list of tables under hooks: correct it first");
}

function isGroup(entry: unknown): boolean {
  return Array.isArray(fieldOf(entry, "hooks"));
}

function commandsIn(entry: unknown): readonly unknown[] {
  const hooks = fieldOf(entry, "hooks");
  return Array.isArray(hooks) ? hooks.map(commandIn) : [commandIn(entry)];
}

function commandIn(hook: unknown): unknown {
  return fieldOf(hook, "command");
}

/** Creates a test for commands that ctxd wrote, also those of a ctxd in another folder. */
function isCommandOf(kind: HookKind): (command: unknown) => command is string {
  const pattern = new RegExp(`(ctxd|/src/main\\.ts)[^ ]* ${kind}( |$)`);
  return (command): command is string => typeof command === "string" && pattern.test(command);
}

function fieldOf(value: unknown, name: string): unknown {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object") throw new ConnectError(`has no object where ${name} should be`);
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

/** A permission rule for all tools of the server (https://code.claude.com/docs/en/permissions). */
const RULE = `mcp__${SERVER_NAME}`;
const RULES = ["permissions", "allow"] as const;

/** Whether the settings of Claude Code have the rule. */
export function hasApprovalRule(text: string): boolean {
  return rulesIn(text).includes(RULE);
}

/**
 * Adds the rule to the settings of Claude Code, or removes it.
 * @param former the settings before ctxd changed them; empty for a new file
 * @throws ConnectError when the settings are damaged; its message is the end of a sentence about the file
 */
export function writeApprovalRule(text: string, isAllowed: boolean, former = ""): string {
  const rules = rulesIn(text);
  const at = rules.indexOf(RULE);
  if (isAllowed === at >= 0) return text;
  if (isAllowed) return writeJson(text, [...RULES, rules.length], RULE);
  return removeJson(text, [...RULES, at], former);
}

function rulesIn(text: string): readonly unknown[] {
  const permissions = Object(Object(jsonFormat.read(text)).permissions);
  const rules: unknown = permissions.allow ?? [];
  if (Array.isArray(rules)) return rules;
  throw new ConnectError("has no list under permissions.allow: correct it first");
}
