import type { Client, Fields } from "../../../connect/client.ts";
import { ConnectError } from "../../../connect/connect-error.ts";
import { writeEntry } from "../../../connect/entry.ts";
import {
  type File,
  isInstalled,
  locate,
  readConfiguration,
  type Surroundings,
} from "../../../connect/files.ts";
import {
  findHookAgent,
  HOOK_AGENTS,
  HOOK_KINDS,
  type HookKind,
} from "../../../connect/hook-agents.ts";
import { type HookCommands, hooksIn, writeHooks } from "../../../connect/hooks.ts";
import {
  isOwnPlugin,
  kindsInPlugin,
  PLUGIN_FILE,
  renderPlugin,
} from "../../../connect/opencode-plugin.ts";
import { writeApprovalRule } from "../../../connect/tool-approval.ts";
import { CommandError } from "../../command-error.ts";

/** A change of a file: its new text, or its removal. */
export interface Change {
  file: File;
  text: string;
  isRemoval?: boolean;
}

/** The wanted settings of one client. */
export interface Wanted {
  /** Null disconnects the client. */
  entry: Fields | null;
  /** Whether the client should have hooks of a kind; undefined leaves them as they are. */
  hooks: Readonly<Record<HookKind, boolean | undefined>>;
  /** Whether the client may use the tools without asking; undefined leaves that as it is. */
  isAllowed: boolean | undefined;
  /** The shell command of a kind of hook. */
  commandOf: (kind: HookKind) => string;
  /** The words of that command before the kind of hook. */
  program: readonly string[];
}

/** Ids of the agents that support hooks. */
export const WITH_HOOKS: readonly string[] = [...HOOK_AGENTS.map(({ id }) => id), "opencode"];

/**
 * Plans the file changes for a client; none if its settings are already as wanted.
 * @throws CommandError for a client that is not installed, ConnectError for a file that can't be changed
 */
export function planChanges(client: Client, wanted: Wanted, around: Surroundings): Change[] {
  const path = locate(client, around);
  if (!isInstalled(client, around)) {
    throw new CommandError(
      `${client.name} has never run here, there is no ${path}: start it once, or use --print.`,
    );
  }
  const edits = new Map<string, (text: string) => string>();
  const edit = (at: string, change: (text: string) => string) => {
    const before = edits.get(at);
    edits.set(at, before ? (text) => change(before(text)) : change);
  };
  edit(path, (text) => writeEntry(client, text, wanted.entry));
  const agent = findHookAgent(client.id);
  if (agent) {
    edit(locate(agent.settings, around), (text) =>
      writeHooks(agent, text, commandsOf(wanted, hooksIn(agent, text))),
    );
  }
  if (client.id === "claude-code" && wanted.isAllowed !== undefined && agent) {
    const isAllowed = wanted.isAllowed;
    edit(locate(agent.settings, around), (text) => writeApprovalRule(text, isAllowed));
  }
  const changes = [...edits].map(([at, change]) => changeOf(at, change));
  if (client.id === "opencode") changes.push(planPlugin(wanted, around));
  return changes.filter(({ file, text }) => text !== file.text);
}

/** The hooks that a client's settings contain now. */
export function hooksOf(client: Client, around: Surroundings): HookKind[] {
  const agent = findHookAgent(client.id);
  const settings = agent?.settings ?? (client.id === "opencode" ? PLUGIN_FILE : null);
  if (!settings) return [];
  const path = locate(settings, around);
  return inFile(path, () => {
    const { text } = readConfiguration(path);
    return agent ? hooksIn(agent, text) : kindsInPlugin(text);
  });
}

function commandsOf({ hooks, commandOf }: Wanted, there: readonly HookKind[]): HookCommands {
  const commandFor = (kind: HookKind) =>
    hooks[kind] || (hooks[kind] === undefined && there.includes(kind)) ? commandOf(kind) : null;
  return { recall: commandFor("recall"), capture: commandFor("capture") };
}

function planPlugin(wanted: Wanted, around: Surroundings): Change {
  const file = readConfiguration(locate(PLUGIN_FILE, around));
  const commands = commandsOf(wanted, kindsInPlugin(file.text));
  const kinds = HOOK_KINDS.filter((kind) => commands[kind] !== null);
  if (kinds.length === 0) {
    return isOwnPlugin(file.text) ? { file, text: "", isRemoval: true } : { file, text: file.text };
  }
  return { file, text: renderPlugin(wanted.program, kinds) };
}

function changeOf(path: string, change: (text: string) => string): Change {
  const file = readConfiguration(path);
  // Some editors begin a file with a byte order mark.
  const [mark, text] = file.text.startsWith("\uFEFF")
    ? ["\uFEFF", file.text.slice(1)]
    : ["", file.text];
  return { file, text: mark + inFile(path, () => change(text)) };
}

function inFile<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    throw new ConnectError(`${path} ${error.message}.`, { cause: error });
  }
}
