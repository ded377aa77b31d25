import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { Config } from "../../../config.ts";
import { ALLOWING, allowInEntry } from "../../../connect/allow.ts";
import { HAS_PLUGIN, hasPlugin } from "../../../connect/claude-plugin.ts";
import { type Client, type Fields, placeOn } from "../../../connect/client.ts";
import { CLIENTS, clientsLike, findClient } from "../../../connect/clients.ts";
import { ConnectError } from "../../../connect/connect-error.ts";
import { describeChange, hideKeys } from "../../../connect/diff.ts";
import {
  isReadByOthers,
  removeConfiguration,
  replaceConfiguration,
} from "../../../connect/files.ts";
import { findHookAgent, type HookKind } from "../../../connect/hook-agents.ts";
import { writeHooks } from "../../../connect/hooks.ts";
import { HOSTED_CLIENTS } from "../../../connect/hosted-clients.ts";
import { renderEntry } from "../../../connect/render.ts";
import { launchOf } from "../../../server/invocation.ts";
import { toShell } from "../../../system/shell.ts";
import { askForKey } from "../../ask-for-key.ts";
import { CommandError, USAGE } from "../../command-error.ts";
import type { Context, Environment } from "../../context.ts";
import { examples } from "../../help-text.ts";
import { confirm, isInteractive, print, say } from "../../terminal.ts";
import { parseOrigin, requireEncryption } from "../../url.ts";
import { installedClients, listClients, surroundingsOf } from "./list.ts";
import { type Change, hooksOf, planChanges, type Wanted, WITH_HOOKS } from "./plan.ts";

/** What `ctxd connect` is asked for. */
interface ConnectOptions {
  /** The address of a server elsewhere; without one, the memory is on this machine. */
  url?: URL;
  /** Whether to use an API key there, instead of signing in. */
  key?: boolean;
  /** Whether conversations are told what is known; left as it is by default. */
  recall?: boolean;
  /** Whether what is said in them is saved; left as it is by default. */
  capture?: boolean;
  /** Whether the agent uses the tools without asking each time. */
  allow?: boolean;
  remove?: boolean;
  print?: boolean;
  yes?: boolean;
}

/** What is to be done for one client. */
interface Plan {
  client: Client;
  changes: Change[];
}

type ConnectAll = ConnectOptions & { all?: boolean; hook?: boolean };

/** Adds the command to the program. */
export function define(program: Command, { configure, env }: Context): void {
  program
    .command("connect")
    .addArgument(
      // The parser has a better sentence for a wrong one than the library.
      new Argument("[client]", "the agent; without one, all are listed")
        .choices(CLIENTS.map(({ id }) => id))
        .argParser(parseClient),
    )
    .summary("let an agent use this memory: writes its settings")
    .description(
      "Writes an agent's settings so that it uses this memory. Shows what changes and asks first; changes nothing else in the file, and keeps a copy of it.",
    )
    .option("--all", "all agents that are found on this machine")
    .option("--url <url>", "a server elsewhere, such as https://memory.example.com", parseOrigin)
    .option("--key", "use an API key there (asked for, or a line of standard input), not sign-in")
    .option("--recall", "tell its conversations what is known of the project and for each prompt")
    .option("--no-recall", "no longer do that")
    .option("--capture", "save what is said in its conversations, for 90 days")
    .option("--no-capture", "no longer do that")
    .addOption(new Option("--hook").hideHelp())
    .option("--allow", "let it use the memory without asking each time")
    .option("--print", "print what belongs into the settings, and write nothing")
    .option("--remove", "disconnect it again")
    .option("-y, --yes", "do not ask whether this is meant")
    .addHelpText("after", `\n${CONNECT_NOTES}`)
    .addHelpText(
      "after",
      examples(
        "ctxd connect claude-code",
        "ctxd connect claude-code --recall --capture --allow",
        "ctxd connect --all",
        "ctxd connect cursor --url https://memory.example.com",
        "ctxd connect codex --url https://memory.example.com --key",
      ),
    )
    .action(async (client: Client | undefined, { all, hook, ...rest }: ConnectAll) => {
      // What it was called at first.
      const options = hook ? { ...rest, recall: true } : rest;
      if (client && all) program.error("error: --all goes with no client");
      if (all && options.print)
        program.error("error: --print goes with one client, not with --all");
      const clients = all ? installedClients(env) : client ? [client] : [];
      if (clients.length > 0) return connectClients(configure(), clients, options, env);
      if (all) {
        throw new CommandError(
          "No agent that ctxd knows was found: ctxd connect lists the agents.",
        );
      }
      if (Object.keys(options).length > 0) {
        program.error("error: name the client too: ctxd connect alone lists them");
      }
      return listClients(env);
    });
}

const CONNECT_NOTES = `Without --url the agent uses the memory on this machine: no account, no key, no set-up.
--recall and --capture are for claude-code, codex, gemini, cursor and opencode, --allow for
claude-code, codex and gemini. ctxd help capture tells what is saved. --remove undoes all of it.
With --url it signs in to a server elsewhere, in the browser, when it first connects.
claude.ai and ChatGPT are connected in their own settings, by the address with /mcp after it.`;

function describeClients(): string {
  return `Clients: ${CLIENTS.map(({ id }) => id).join(", ")}.`;
}

function parseClient(id: string): Client {
  const client = findClient(id);
  if (client) return client;
  const hosted = HOSTED_CLIENTS.find((each) => each.id === id);
  if (hosted) {
    throw new InvalidArgumentError(
      `${hosted.name} is connected in its own settings, by the server's address with /mcp after it.`,
    );
  }
  const like = clientsLike(id).map((each) => each.id);
  const hint = like.length > 0 ? `Did you mean ${like.join(" or ")}?\n` : "";
  throw new InvalidArgumentError(`\n${hint}${describeClients()}`);
}

/**
 * `ctxd connect CLIENT`, and `ctxd connect --all`: what can't be changed of several clients is told,
 * and keeps nobody from the others.
 */
async function connectClients(
  config: Config,
  clients: readonly Client[],
  options: ConnectOptions,
  env: Environment,
): Promise<void> {
  checkOptions(clients, options);
  if (options.key && options.url) requireEncryption(options.url, config);
  const key = options.key ? await askForKey() : null;
  const plans: Plan[] = [];
  const problems: string[] = [];
  const isLocal = !options.remove && !options.url && !options.print;
  for (const client of clients) {
    if (isLocal && hasPlugin(client, surroundingsOf(env))) {
      if (clients.length === 1) throw new CommandError(HAS_PLUGIN);
      say(HAS_PLUGIN);
      continue;
    }
    const entry = entryOf(client, options, key, config, env);
    const wanted = { ...wantedOf(client, options, config, env), entry };
    if (options.print && entry) {
      await printEntry(client, entry, wanted);
      continue;
    }
    try {
      plans.push({ client, changes: await plan(client, wanted, options, env) });
    } catch (error) {
      if (!(error instanceof ConnectError) || clients.length === 1) throw error;
      problems.push(error.message);
    }
  }
  await carryOut(plans, options, key);
  for (const problem of problems) say(problem);
  if (problems.length > 0) throw new CommandError(`${problems.length} could not be changed.`);
}

/** What the options say of a client, and what its hooks would run. */
function wantedOf(
  client: Client,
  { recall, capture, allow, remove, url }: ConnectOptions,
  config: Config,
  env: Environment,
): Omit<Wanted, "entry"> {
  const launch = (words: readonly string[]) => {
    const { command, args } = launchOf(words, config, env);
    return [command, ...args];
  };
  // Hooks ask the memory on this machine.
  const isPossible = !remove && !url;
  return {
    hooks: isPossible ? { recall, capture } : { recall: false, capture: false },
    isAllowed: remove ? false : allow,
    commandOf: (kind) => toShell(launch([kind, "--agent", client.id])),
    program: launch([]),
  };
}

/** What is to be changed for a client; who is at a terminal is asked whether it shall recall. */
async function plan(
  client: Client,
  wanted: Wanted,
  { remove, url, yes }: ConnectOptions,
  env: Environment,
): Promise<Change[]> {
  const around = surroundingsOf(env);
  const changes = planChanges(client, wanted, around);
  const isAsked =
    !remove &&
    !url &&
    !yes &&
    isInteractive() &&
    client.id === "claude-code" &&
    wanted.hooks.recall === undefined &&
    wanted.hooks.capture === undefined;
  if (!isAsked || hooksOf(client, around).length > 0) return changes;
  if (!(await confirm("Begin new conversations with what is known of the project?"))) {
    return changes;
  }
  return planChanges(client, { ...wanted, hooks: { ...wanted.hooks, recall: true } }, around);
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
  { url, key, recall, capture, allow, remove, print: isPrint }: ConnectOptions,
) {
  const fail = (message: string) => {
    throw new CommandError(message, USAGE);
  };
  if (key && !url) fail("--key goes with --url: on this machine no key is needed.");
  if (remove && (url || recall || capture || allow || isPrint)) {
    fail("--remove goes with no option but --yes.");
  }
  if ((recall || capture) && url) {
    fail("--recall and --capture are for the memory on this machine: they can't go with --url.");
  }
  const isFor = (ids: readonly string[]) => clients.some(({ id }) => ids.includes(id));
  if ((recall || capture) && !isFor(WITH_HOOKS)) {
    fail(`--recall and --capture are for agents with hooks: ${WITH_HOOKS.join(", ")}.`);
  }
  if (allow && !isFor(ALLOWING)) fail(`--allow is for ${ALLOWING.join(", ")}.`);
}

function entryOf(
  client: Client,
  { url, remove, allow }: ConnectOptions,
  key: string | null,
  config: Config,
  env: Environment,
): Fields | null {
  if (remove) return null;
  const entry = url
    ? client.remote({ url: `${url.origin}/mcp`, key })
    : client.local(launchOf(["mcp", "--agent", client.id], config, env));
  return allow ? { ...entry, ...allowInEntry(client) } : entry;
}

/** Prints what a person can put into the files by hand. */
async function printEntry(client: Client, entry: Fields, { hooks, commandOf }: Wanted) {
  await print(renderEntry(client, entry));
  say(`This goes into ${pathOf(client.file)}.`);
  const agent = findHookAgent(client.id);
  const commandFor = (kind: HookKind) => (hooks[kind] ? commandOf(kind) : null);
  const commands = { recall: commandFor("recall"), capture: commandFor("capture") };
  if (!agent || (commands.recall ?? commands.capture) === null) return;
  await print(writeHooks(agent, "", commands).trimEnd());
  say(`This goes into ${pathOf(agent.settings.file)}.`);
}

/** As people write it, wherever this runs. */
function pathOf(file: Client["file"]): string {
  return placeOn(process.platform, file) ?? file.linux;
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

function apply({ file, text, isRemoval }: Change, key: string | null): void {
  if (isRemoval) {
    removeConfiguration(file);
    say(`Removed ${file.path}.`);
    return;
  }
  const copy = replaceConfiguration(file, text);
  say(`Wrote ${file.path}.${copy ? ` As it was: ${copy}` : ""}`);
  if (copy && hideKeys(file.text) !== file.text) say("An API key is still in that copy.");
  if (key !== null && isReadByOthers(file.path)) {
    say(`Others on this machine can read the key in it: chmod 600 ${toShell([file.path])}`);
  }
}

function describeOutcome(
  client: Client,
  { url, remove, recall, capture }: ConnectOptions,
  key: string | null,
): string {
  if (remove) return `${client.name} is no longer connected, from its next start on.`;
  if (!url) {
    const { note } = findHookAgent(client.id) ?? {};
    const hasHooks = WITH_HOOKS.includes(client.id);
    return [
      `${client.name} is connected to the memory on this machine: ${client.reload}.`,
      capture &&
        hasHooks &&
        "What is said in its conversations is saved for 90 days, those under way from their beginning; --no-capture ends that.",
      (recall || capture) && !hasHooks && "It has no hooks, so that it has the tools alone.",
      (recall || capture) && note,
    ]
      .filter(Boolean)
      .join("\n");
  }
  const signIn = key === null ? ` Then ${client.signIn}.` : "";
  return `${client.name} is connected to ${url.origin}: ${client.reload}.${signIn}`;
}
