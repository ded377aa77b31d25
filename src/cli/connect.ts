import type { Config } from "../config.ts";
import type { Client, Fields } from "../connect/clients.ts";
import { ConnectError } from "../connect/connect-error.ts";
import { describeChange, hideKeys } from "../connect/diff.ts";
import { writeEntry } from "../connect/entry.ts";
import {
  type File,
  isInstalled,
  isReadByOthers,
  locate,
  readConfiguration,
  replaceConfiguration,
  type Surroundings,
} from "../connect/files.ts";
import { HOOK_SETTINGS, hasHook, hookOf, writeHook } from "../connect/hook.ts";
import { renderEntry } from "../connect/render.ts";
import { askForKey } from "./ask-for-key.ts";
import { surroundingsOf } from "./connect-list.ts";
import { CommandError, type Environment, USAGE } from "./failure.ts";
import { launchOf, toShell } from "./invocation.ts";
import { confirm, isInteractive, print, say } from "./terminal.ts";
import { requireEncryption } from "./url.ts";

/** What `ctxd connect CLIENT` is asked for. */
export interface ConnectOptions {
  /** The address of a server elsewhere; without one, the memory is on this machine. */
  url?: URL;
  /** Whether to use an API key there, instead of signing in. */
  key?: boolean;
  /** Whether sessions of Claude Code are to begin with what is known. */
  hook?: boolean;
  remove?: boolean;
  print?: boolean;
  yes?: boolean;
}

/** A file with the text that it is to have. */
interface Change {
  file: File;
  text: string;
}

/** `ctxd connect CLIENT` */
export async function connectClient(
  config: Config,
  client: Client,
  options: ConnectOptions,
  env: Environment,
): Promise<void> {
  checkOptions(client, options);
  if (options.key && options.url) requireEncryption(options.url, config);
  const key = options.key ? await askForKey() : null;
  const entry = entryOf(client, options, key, config, env);
  const recall = launchOf(["recall"], config, env);
  const command = toShell([recall.command, ...recall.args]);
  if (options.print && entry) return printEntry(client, entry, options.hook ? command : null);

  const surroundings = surroundingsOf(env);
  const path = locate(client, surroundings);
  if (!isInstalled(client, surroundings)) {
    throw new CommandError(
      `${client.name} has never run here, there is no ${path}: start it once, or use --print.`,
    );
  }
  const changes = [
    edit(path, (text) => writeEntry(client, text, entry)),
    ...(client.id === "claude-code" ? [await editHook(options, command, surroundings)] : []),
  ].filter(({ file, text }) => text !== file.text);
  if (changes.length === 0) {
    const state = options.remove ? "is not connected" : "is connected like this already";
    return say(`${client.name} ${state}: nothing to change.`);
  }

  for (const { file, text } of changes) {
    say(`${file.path}${file.exists ? "" : " (a new file)"}\n${describeChange(file.text, text)}\n`);
  }
  await requireConsent(options);
  for (const change of changes) apply(change, key);
  say(describeOutcome(client, options, key));
  if (entry !== null && !options.url && process.execPath.includes("/_npx/")) {
    say("This Bun is in npx's cache, which may be emptied: install Bun, or build the executable.");
  }
}

/** @throws CommandError for options that have nothing to say to each other */
function checkOptions(client: Client, { url, key, hook, remove, print: isPrint }: ConnectOptions) {
  const fail = (message: string) => {
    throw new CommandError(message, USAGE);
  };
  if (key && !url) fail("--key goes with --url: on this machine no key is needed.");
  if (remove && (url || hook || isPrint)) fail("--remove goes with no option but --yes.");
  if (hook && client.id !== "claude-code") fail("--hook is for claude-code alone.");
  if (hook && url) fail("--hook recalls from the memory on this machine: it can't go with --url.");
}

function entryOf(
  client: Client,
  { url, remove }: ConnectOptions,
  key: string | null,
  config: Config,
  env: Environment,
): Fields | null {
  if (remove) return null;
  if (url) return client.remote({ url: `${url.origin}/mcp`, key });
  return client.local(launchOf(["mcp", "--agent", client.id], config, env));
}

/** Prints what a person can put into the file by hand. */
async function printEntry(client: Client, entry: Fields, hook: string | null): Promise<void> {
  await print(renderEntry(client, entry));
  say(`This goes into ${pathOf(client.file)}.`);
  if (hook === null) return;
  await print(JSON.stringify({ hooks: { SessionStart: [hookOf(hook)] } }, null, 2));
  say(`This goes into ${pathOf(HOOK_SETTINGS.file)}.`);
}

/** As people write it, wherever this runs. */
function pathOf({ linux, macos }: Client["file"]): string {
  return process.platform === "darwin" ? macos : linux;
}

/** The hook follows the entry: it goes with it, and is kept up to date where there is one. */
async function editHook(
  { url, hook, remove, yes }: ConnectOptions,
  command: string,
  surroundings: Surroundings,
): Promise<Change> {
  const path = locate(HOOK_SETTINGS, surroundings);
  const wanted =
    !remove &&
    !url &&
    (hook ||
      inFile(path, () => hasHook(readConfiguration(path).text)) ||
      (isInteractive() &&
        !yes &&
        (await confirm("Begin new sessions with what is known of the project?"))));
  return edit(path, (text) => writeHook(text, wanted ? command : null));
}

/** A file as it is, and the text that it is to have. */
function edit(path: string, change: (text: string) => string): Change {
  const file = readConfiguration(path);
  // Editors of other systems put a mark before the text.
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

async function requireConsent({ yes }: ConnectOptions): Promise<void> {
  if (yes) return;
  if (!isInteractive()) {
    throw new CommandError(
      "Nothing was changed: this needs --yes when nobody can be asked.",
      USAGE,
    );
  }
  if (!(await confirm("Change this?"))) throw new CommandError("Nothing was changed.");
}

function apply({ file, text }: Change, key: string | null): void {
  const copy = replaceConfiguration(file, text);
  say(`Wrote ${file.path}.${copy ? ` As it was: ${copy}` : ""}`);
  if (copy && hideKeys(file.text) !== file.text) say("An API key is still in that copy.");
  if (key !== null && isReadByOthers(file.path)) {
    say(`Others on this machine can read the key in it: chmod 600 ${toShell([file.path])}`);
  }
}

function describeOutcome(client: Client, { url, remove }: ConnectOptions, key: string | null) {
  if (remove) return `${client.name} is no longer connected: ${client.reload}.`;
  if (!url) return `${client.name} is connected to the memory on this machine: ${client.reload}.`;
  const signIn = key === null ? ` Then ${client.signIn}.` : "";
  return `${client.name} is connected to ${url.origin}: ${client.reload}.${signIn}`;
}
