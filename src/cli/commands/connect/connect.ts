import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { Config } from "../../../config.ts";
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
import { AGENTS_WITH_APPROVAL, approvalFields } from "../../../connect/tool-approval.ts";
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
  /** The address of a remote server. Default: the memory on this machine. */
  url?: URL;
  /** Whether to use an API key of that server instead of signing in. */
  key?: boolean;
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

/** The changes for one client. */
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
      // The parser has a better error message than Commander.
      new Argument("[client]", "the agent; without one, lists all agents")
        .choices(CLIENTS.map(({ id }) => id))
        .argParser(parseClient),
    )
    .summary("connect an agent to this memory: writes the agent's settings")
    .description(
      "Writes an agent's settings so that it uses this memory. Shows the changes and asks first. It keeps a copy of the file and changes nothing else in it.",
    )
    .option("--all", "all agents that are found on this machine")
    .option("--url <url>", "a remote server, such as https://memory.example.com", parseOrigin)
    .option(
      "--key",
      "with --url: use an API key (asked for, or read as one line of standard input) instead of sign-in",
    )
    .option(
      "--recall",
      "add what is known about the project, and about each prompt, to its conversations",
    )
    .option("--no-recall", "stop that")
    .option("--capture", "save the turns of its conversations, for 90 days")
    .option("--no-capture", "stop that")
    .addOption(new Option("--hook").hideHelp())
    .option("--allow", "let it use the memory without asking each time")
    .option("--print", "print the settings, and write nothing")
    .option("--remove", "disconnect the agent")
    .option("-y, --yes", "do not ask for confirmation")
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
      // --hook is the former name of --recall.
      const options = hook ? { ...rest, recall: true } : rest;
      if (client && all) program.error("error: use --all or a client, not both");
      if (all && options.print) program.error("error: --print needs one client, not --all");
      const clients = all ? installedClients(env) : client ? [client] : [];
      if (clients.length > 0) return connectClients(configure(), clients, options, env);
      if (all) {
        throw new CommandError(
          "No agent that ctxd knows was found: ctxd connect lists the agents.",
        );
      }
      if (Object.keys(options).length > 0) {
        program.error("error: name a client too: ctxd connect without options lists them");
      }
      return listClients(env);
    });
}

const CONNECT_NOTES = `Without --url the agent uses the memory on this machine: no account, no key, no set-up.
--recall and --capture work with claude-code, codex, gemini, cursor and opencode; --allow works
with claude-code, codex and gemini. ctxd help capture explains what is saved. --remove undoes
everything. With --url the agent signs in to a remote server, in the browser, when it first
connects. claude.ai and ChatGPT are connected in their own settings: enter the server's address
followed by /mcp.`;

function describeClients(): string {
  return `Clients: ${CLIENTS.map(({ id }) => id).join(", ")}.`;
}

function parseClient(id: string): Client {
  const client = findClient(id);
  if (client) return client;
  const hosted = HOSTED_CLIENTS.find((each) => each.id === id);
  if (hosted) {
    throw new InvalidArgumentError(
      `${hosted.name} is connected in its own settings: enter the server's address followed by /mcp.`,
    );
  }
  const like = clientsLike(id).map((each) => each.id);
  const hint = like.length > 0 ? `Did you mean ${like.join(" or ")}?\n` : "";
  throw new InvalidArgumentError(`\n${hint}${describeClients()}`);
}

/**
 * `ctxd connect CLIENT`, and `ctxd connect --all`. With several clients, one that can't be changed is
 * reported and does not stop the others.
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

/** The settings that the options ask for, and the commands of the hooks. */
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
  // Hooks use the memory on this machine only.
  const isPossible = !remove && !url;
  return {
    hooks: isPossible ? { recall, capture } : { recall: false, capture: false },
    isAllowed: remove ? false : allow,
    commandOf: (kind) => toShell(launch([kind, "--agent", client.id])),
    program: launch([]),
  };
}

/** Plans the changes for a client. On a terminal it asks whether Claude Code should recall. */
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
  if (!(await confirm("Begin new conversations with what is known about the project?"))) {
    return changes;
  }
  return planChanges(client, { ...wanted, hooks: { ...wanted.hooks, recall: true } }, around);
}

/** Shows all changes, asks once, and applies them. */
async function carryOut(plans: readonly Plan[], options: ConnectOptions, key: string | null) {
  const [wanted, same] = [plans.filter(isChange), plans.filter((plan) => !isChange(plan))];
  for (const { client } of same) {
    const state = options.remove ? "is not connected" : "is already connected like this";
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
    say(
      "This Bun is in the cache of npx, which may be emptied: install Bun, or build the executable.",
    );
  }
}

function isChange({ changes }: Plan): boolean {
  return changes.length > 0;
}

/** @throws CommandError for options that can't be combined */
function checkOptions(
  clients: readonly Client[],
  { url, key, recall, capture, allow, remove, print: isPrint }: ConnectOptions,
) {
  const fail = (message: string) => {
    throw new CommandError(message, USAGE);
  };
  if (key && !url) fail("--key needs --url: on this machine no key is needed.");
  if (remove && (url || recall || capture || allow || isPrint)) {
    fail("--remove can only be combined with --yes.");
  }
  if ((recall || capture) && url) {
    fail(
      "--recall and --capture use the memory on this machine: they can't be combined with --url.",
    );
  }
  const isFor = (ids: readonly string[]) => clients.some(({ id }) => ids.includes(id));
  if ((recall || capture) && !isFor(WITH_HOOKS)) {
    fail(`--recall and --capture need an agent with hooks: ${WITH_HOOKS.join(", ")}.`);
  }
  if (allow && !isFor(AGENTS_WITH_APPROVAL))
    fail(`--allow works with ${AGENTS_WITH_APPROVAL.join(", ")}.`);
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
  return allow ? { ...entry, ...approvalFields(client) } : entry;
}

/** Prints the settings, for a user who edits the files by hand. */
async function printEntry(client: Client, entry: Fields, { hooks, commandOf }: Wanted) {
  await print(renderEntry(client, entry));
  say(`Add this to ${pathOf(client.file)}.`);
  const agent = findHookAgent(client.id);
  const commandFor = (kind: HookKind) => (hooks[kind] ? commandOf(kind) : null);
  const commands = { recall: commandFor("recall"), capture: commandFor("capture") };
  if (!agent || (commands.recall ?? commands.capture) === null) return;
  await print(writeHooks(agent, "", commands).trimEnd());
  say(`Add this to ${pathOf(agent.settings.file)}.`);
}

/** The path of a file on this system, in the form that people write. */
function pathOf(file: Client["file"]): string {
  return placeOn(process.platform, file) ?? file.linux;
}

async function requireConsent({ yes }: ConnectOptions): Promise<void> {
  if (yes) return;
  if (!isInteractive()) {
    throw new CommandError("Nothing was changed: without a terminal this needs --yes.", USAGE);
  }
  if (!(await confirm("Make these changes?"))) throw new CommandError("Nothing was changed.");
}

function apply({ file, text, isRemoval }: Change, key: string | null): void {
  if (isRemoval) {
    removeConfiguration(file);
    say(`Removed ${file.path}.`);
    return;
  }
  const copy = replaceConfiguration(file, text);
  say(`Wrote ${file.path}.${copy ? ` A copy of the old file: ${copy}` : ""}`);
  if (copy && hideKeys(file.text) !== file.text) say("That copy still contains an API key.");
  if (key !== null && isReadByOthers(file.path)) {
    say(`Other users of this machine can read the key in it: chmod 600 ${toShell([file.path])}`);
  }
}

function describeOutcome(
  client: Client,
  { url, remove, recall, capture }: ConnectOptions,
  key: string | null,
): string {
  if (remove) return `${client.name} is disconnected from its next start.`;
  if (!url) {
    const { note } = findHookAgent(client.id) ?? {};
    const hasHooks = WITH_HOOKS.includes(client.id);
    return [
      `${client.name} is connected to the memory on this machine: ${client.reload}.`,
      capture &&
        hasHooks &&
        "Its conversations are saved for 90 days, running ones from their beginning; --no-capture stops that.",
      (recall || capture) && !hasHooks && "It has no hooks, so it can use the tools only.",
      (recall || capture) && note,
    ]
      .filter(Boolean)
      .join("\n");
  }
  const signIn = key === null ? ` Then ${client.signIn}.` : "";
  return `${client.name} is connected to ${url.origin}: ${client.reload}.${signIn}`;
}
