import { dirname, join } from "node:path";
import { type Change, type Part, planChange, wholeFile } from "../../../connect/change.ts";
import { type Client, type Fields, HOOK_KINDS, type HookKind } from "../../../connect/client.ts";
import { readEntry, writeEntry } from "../../../connect/entry.ts";
import {
  isInstalled,
  locate,
  readConfiguration,
  type Surroundings,
} from "../../../connect/files.ts";
import {
  commandsOfHooks,
  type HookCommands,
  hasApprovalRule,
  hooksIn,
  writeApprovalRule,
  writeHooks,
} from "../../../connect/hooks.ts";
import {
  hasPluginSetting,
  isOwnPlugin,
  kindsInPlugin,
  renderPlugin,
  writePluginSetting,
} from "../../../connect/plugins.ts";
import { CommandError, usageError } from "../../terminal.ts";

export interface ConnectOptions {
  /** The address of a remote server. Default: the memory on this machine. */
  url?: URL;
  /** Whether to use an API key of that server instead of signing in. */
  key?: boolean;
  /** Whether the agent connects to that server itself, with the key in its settings. */
  direct?: boolean;
  /** Whether hooks add memories to conversations; undefined leaves the hooks as they are. */
  recall?: boolean;
  /** Whether hooks save the turns of conversations; undefined leaves the hooks as they are. */
  capture?: boolean;
  /** Whether the agent may use the tools without asking each time. */
  allow?: boolean;
  remove?: boolean;
  print?: boolean;
  yes?: boolean;
}

/**
 * Whether the agent reaches a remote server through `ctxd mcp`, which adds the project and the session, and has the key.
 * Otherwise the agent connects itself, and signs in.
 */
export function isBridged({ url, key, direct, recall, capture }: ConnectOptions): boolean {
  return url !== undefined && !direct && Boolean(key || (recall ?? capture) !== undefined);
}

/** @throws CommandError for options that can't be combined */
export function checkOptions({
  url,
  key,
  direct,
  recall,
  capture,
  allow,
  remove,
  print: isPrint,
}: ConnectOptions) {
  if (key && !url) throw usageError("--key needs --url: on this machine no key is needed.");
  if (direct && !key) throw usageError("--direct goes with --url and --key.");
  if (remove && (url || recall || capture || allow || isPrint)) {
    throw usageError("--remove can only be combined with --yes.");
  }
  if ((recall || capture) && direct) {
    throw usageError(
      "--recall and --capture need ctxd between the agent and the server: leave out --direct.",
    );
  }
}

/** The wanted settings of one client. */
export interface WantedSettings {
  /** Null disconnects the client. */
  entry: Fields | null;
  /** Whether the client should have hooks of a kind; undefined leaves them as they are. */
  hooks: Readonly<Record<HookKind, boolean | undefined>>;
  /** Whether the client may use the tools without asking; undefined leaves that as it is. */
  isAllowed: boolean | undefined;
  /** The shell command of a kind of hook. */
  commandOf: (kind: HookKind) => string;
  /** The words of that command before the kind of hook, and those after it. */
  program: readonly string[];
  options: readonly string[];
}

/** Whether something runs the commands that recall and capture. */
export function hasHooks({ hooks, plugin }: Client): boolean {
  return hooks !== undefined || plugin !== undefined;
}

/** Says which of the wanted options a client has no settings for; null if it has all. */
export function describeSkipped(
  client: Client,
  { recall, capture, allow }: ConnectOptions,
): string | null {
  const skipped = [
    recall && !hasHooks(client) && "--recall",
    capture && !hasHooks(client) && "--capture",
    allow && !client.approval && "--allow",
  ].filter((option) => typeof option === "string");
  if (skipped.length === 0) return null;
  const list = new Intl.ListFormat("en-GB").format(skipped);
  return `Skipped ${list}: ${client.name} has no settings for that, as far as ctxd knows.`;
}

/**
 * Plans the file changes for a client; none if its settings are already as wanted.
 * @throws CommandError for a client that is not installed, ConnectError for a file that can't be changed
 */
export function planChanges(
  client: Client,
  wanted: WantedSettings,
  around: Surroundings,
): Change[] {
  const path = locate(client, around);
  if (!isInstalled(client, around)) {
    throw new CommandError(
      `${client.name} has never run here: there is no ${path}. Start it once, or add --print to see what belongs there.`,
    );
  }
  const isRemoved = wanted.entry === null;
  return [...partsOf(client, wanted, around)]
    .map(([at, parts]) => planChange(at, parts))
    .filter(({ file, text, copies }) => text !== file.text || (isRemoved && copies.length > 0));
}

/** What ctxd has of a client's settings, by the path of the file. */
function partsOf(
  client: Client,
  wanted: WantedSettings,
  around: Surroundings,
): Map<string, readonly Part[]> {
  const parts = new Map<string, readonly Part[]>();
  const add = (path: string, part: Part) => parts.set(path, [...(parts.get(path) ?? []), part]);
  add(locate(client, around), {
    apply: (text, former) => writeEntry(client, text, wanted.entry, former),
    carry: (from, to) => writeEntry(client, to, readEntry(client, from), to),
  });
  const { hooks, plugin, approval } = client;
  const { isAllowed } = wanted;
  if (hooks) {
    add(locate(hooks, around), {
      apply: (text, former) =>
        writeHooks(hooks, text, commandsOf(wanted, hooksIn(hooks, text)), former),
      carry: (from, to) => writeHooks(hooks, to, commandsOfHooks(hooks, from), to),
    });
  }
  if (hooks && approval === "rule") {
    add(locate(hooks, around), {
      apply: (text, former) => writeApprovalRule(text, isAllowed ?? hasApprovalRule(text), former),
      carry: (from, to) => writeApprovalRule(to, hasApprovalRule(from), to),
    });
  }
  if (plugin) {
    const at = locate(plugin, around);
    const commands = commandsOf(wanted, kindsInPlugin(readConfiguration(at).text));
    const kinds = HOOK_KINDS.filter((kind) => commands[kind] !== null);
    const isWanted = kinds.length > 0;
    add(at, wholeFile(isOwnPlugin, isWanted ? renderPlugin(client, wanted, kinds) : null));
    for (const [name, fields] of Object.entries(plugin.beside ?? {})) {
      const own = `${JSON.stringify(fields, null, 2)}\n`;
      add(
        join(dirname(at), name),
        wholeFile((text) => text === own, isWanted ? own : null),
      );
    }
    add(locate(client, around), {
      apply: (text, former) => writePluginSetting(plugin, text, isWanted, former),
      carry: (from, to) => writePluginSetting(plugin, to, hasPluginSetting(plugin, from), to),
    });
  }
  return parts;
}

/** The commands of the wanted hooks. @param there the kinds of hooks that are there now */
export function commandsOf(
  { hooks, commandOf }: WantedSettings,
  there: readonly HookKind[] = [],
): HookCommands {
  const commandFor = (kind: HookKind) =>
    hooks[kind] || (hooks[kind] === undefined && there.includes(kind)) ? commandOf(kind) : null;
  return { recall: commandFor("recall"), capture: commandFor("capture") };
}
