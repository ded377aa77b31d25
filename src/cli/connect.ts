import type { Config } from "../config.ts";
import type { Client, Fields } from "../connect/client.ts";
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

/** What `ctxd connect` is asked for. */
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

/** What is to be done for one client. */
interface Plan {
  client: Client;
  changes: Change[];
}

/**
 * `ctxd connect CLIENT`, and `ctxd connect --all`: what can't be changed of several clients is told,
 * and keeps nobody from the others.
 */
export async function connectClients(
  config: Config,
  clients: readonly Client[],
  options: ConnectOptions,
  env: Environment,
): Promise<void> {
  checkOptions(clients, options);
  if (options.key && options.url) requireEncryption(options.url, config);
  const key = options.key ? await askForKey() : null;
  const recall = launchOf(["recall"], config, env);
  const command = toShell([recall.command, ...recall.args]);
  const plans: Plan[] = [];
  const problems: string[] = [];
  for (const client of clients) {
    const entry = entryOf(client, options, key, config, env);
    if (options.print && entry) {
      await printEntry(client, entry, options.hook ? command : null);
      continue;
    }
    try {
      plans.push({ client, changes: await plan(client, entry, { options, command, env }) });
    } catch (error) {
      if (!(error instanceof ConnectError) || clients.length === 1) throw error;
      problems.push(error.message);
    }
  }
  await carryOut(plans, options, key);
  for (const problem of problems) say(problem);
  if (problems.length > 0) throw new CommandError(`${problems.length} could not be changed.`);
}

/** What is to be changed for a client; nothing where all is as it should be. */
async function plan(
  client: Client,
  entry: Fields | null,
  { options, command, env }: { options: ConnectOptions; command: string; env: Environment },
): Promise<Change[]> {
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
  ];
  return changes.filter(({ file, text }) => text !== file.text);
}

/** Shows all changes, asks once, and makes them. */
async function carryOut(plans: readonly Plan[], options: ConnectOptions, key: string | null) {
  const [wanted, same] = [plans.filter(isChange), plans.filter((plan) => !isChange(plan))];
  for (const { client } of same) {
    const state = options.remove ? "is not connected" : "is connected like this already";
    say(`${client.name} ${state}: nothing to change.`);
  }
  if (wanted.length === 0) return;
  for (const { file, text } of wanted.flatMap(({ changes }) => changes)) {
    say(`${file.path}${file.exists ? "" : " (a new file)"}\n${describeChange(file.text, text)}\n`);
  }
  await requireConsent(options);
  for (const { client, changes } of wanted) {
    for (const change of changes) apply(change, key);
    say(describeOutcome(client, options, key));
  }
  if (!options.remove && !options.url && process.execPath.includes("/_npx/")) {
    say("This Bun is in npx's cache, which may be emptied: install Bun, or build the executable.");
  }
}

function isChange({ changes }: Plan): boolean {
  return changes.length > 0;
}

/** @throws CommandError for options that have nothing to say to each other */
function checkOptions(
  clients: readonly Client[],
  { url, key, hook, remove, print: isPrint }: ConnectOptions,
) {
  const fail = (message: string) => {
    throw new CommandError(message, USAGE);
  };
  if (key && !url) fail("--key goes with --url: on this machine no key is needed.");
  if (remove && (url || hook || isPrint)) fail("--remove goes with no option but --yes.");
  if (hook && !clients.some(({ id }) => id === "claude-code")) {
    fail("--hook is for claude-code alone.");
  }
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
