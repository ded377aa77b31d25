import { ConnectError, type Fields, HOOK_KINDS, type HookKind, type Hooks } from "./client.ts";
import { jsonFormat, removeJson, writeJson } from "./json.ts";

/** Seconds after which an agent continues without a hook's answer. A hook usually takes 0.1 s. */
const TIMEOUT_SECONDS = 10;

/** The events of an agent at which ctxd's hooks run. */
export function eventsOf(hooks: Hooks): { name: string; kind: HookKind }[] {
  return HOOK_KINDS.flatMap((kind) => hooks[kind].map((name) => ({ name, kind })));
}

/** An entry of an event's list. */
function entryOf(hooks: Hooks, command: string, event: string): Fields {
  const { isGrouped = true, matchers = {}, timeout = TIMEOUT_SECONDS } = hooks;
  if (!isGrouped) return { command, timeout };
  const matcher = matchers[event];
  return {
    ...(matcher !== undefined && { matcher }),
    hooks: [{ type: "command", command, timeout }],
  };
}

/** The command of one kind of hook at an event. */
interface WantedEvent {
  name: string;
  kind: HookKind;
  command: string | null;
}

/** The command that each kind of hook runs; null for no such hook. */
export type HookCommands = Readonly<Record<HookKind, string | null>>;

/** The commands of ctxd's hooks in an agent's settings. */
export function commandsOfHooks(hooks: Hooks, text: string): HookCommands {
  const settings = jsonFormat.read(text);
  const commandOf = (kind: HookKind) =>
    hooks[kind]
      .flatMap((event) => listOf(settings, event).flatMap(commandsIn))
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
    const command = commands[kind];
    const before = listOf(jsonFormat.read(written), name);
    const next = writeEvent(written, before, { hooks, name, kind, command, former });
    if (next !== written) check(next, { name, kind, command, before: before.length });
    written = next;
  }
  return written === text || isWanted ? written : removeBeside(hooks, written, former);
}

function addBeside({ beside = {} }: Hooks, text: string): string {
  return Object.entries(beside).reduce((settings, [name, value]) => {
    const isThere = fieldOf(jsonFormat.read(settings), name) !== undefined;
    return isThere ? settings : writeJson(settings, [name], value);
  }, text);
}

/** Removes the other fields that ctxd's hooks needed, unless hooks that were added since need them. */
function removeBeside({ beside = {} }: Hooks, text: string, former: string): string {
  const before = jsonFormat.read(former);
  return Object.entries(beside).reduce((written, [name, value]) => {
    const settings = jsonFormat.read(written);
    const isNeeded = fieldOf(settings, "hooks") && !fieldOf(before, "hooks");
    const isOurs = fieldOf(settings, name) === value && fieldOf(before, name) === undefined;
    return isOurs && !isNeeded ? removeJson(written, [name], former) : written;
  }, text);
}

function writeEvent(
  text: string,
  list: readonly unknown[],
  { hooks, name, kind, command, former }: WantedEvent & { hooks: Hooks; former: string },
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
function check(text: string, { name, kind, command, before }: WantedEvent & { before: number }) {
  const list = listOf(jsonFormat.read(text), name);
  const ours = list.flatMap(commandsIn).filter(isCommandOf(kind));
  const isRight = command === null ? ours.length === 0 : ours.length === 1 && ours[0] === command;
  if (isRight && Math.abs(list.length - before) <= 1) return;
  throw new ConnectError("has hooks in a form that ctxd can't change: do it by hand");
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
function isCommandOf(kind: HookKind): (command: unknown) => command is string {
  const pattern = new RegExp(`(ctxd|/src/main\\.ts)[^ ]* ${kind}( |$)`);
  return (command): command is string => typeof command === "string" && pattern.test(command);
}

function fieldOf(value: unknown, name: string): unknown {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object") throw new ConnectError(`has no object where ${name} should be`);
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
