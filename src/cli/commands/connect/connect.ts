import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { Config } from "../../../config/config.ts";
import { hooksOf } from "../../../connect/capturing.ts";
import type { Change } from "../../../connect/change.ts";
import { type Client, ConnectError, type Fields, placeOn } from "../../../connect/client.ts";
import { CLIENTS, clientsLike, findClient, HOSTED_CLIENTS } from "../../../connect/clients.ts";
import { surroundingsOf } from "../../../connect/files.ts";
import { renderEntry } from "../../../connect/format.ts";
import { writeHooks } from "../../../connect/hooks.ts";
import { HAS_PLUGIN, hasPlugin } from "../../../connect/plugins.ts";
import { createDataFolder } from "../../../db/data-lock.ts";
import { launchOf } from "../../../server/invocation.ts";
import { toShell } from "../../../system/shell.ts";
import { type Context, type Environment, examples } from "../../context.ts";
import { keepKey } from "../../server/remote-server.ts";
import { parseOrigin } from "../../server/url.ts";
import { CommandError, confirm, isInteractive, print, say } from "../../terminal.ts";
import { applyPlans, type Plan } from "./apply.ts";
import { installedClients, listClients } from "./list.ts";
import {
  type ConnectOptions,
  checkOptions,
  commandsOf,
  describeSkipped,
  isBridged,
  planChanges,
  type WantedSettings,
} from "./plan.ts";
import { forgetUnused, keyFor } from "./remote.ts";

/** Prints the settings, for a user who edits the files by hand. */
async function printEntry(
  client: Client,
  entry: Fields,
  wanted: WantedSettings,
  skipped: string | null,
) {
  await print(renderEntry(client, entry));
  say(`Add this to ${pathOf(client.file)}.`);
  if (skipped) say(skipped);
  const commands = commandsOf(wanted);
  if (!client.hooks || (commands.recall ?? commands.capture) === null) return;
  await print(writeHooks(client.hooks, "", commands).trimEnd());
  say(`Add this to ${pathOf(client.hooks.file)}.`);
}

/** The path of a file on this system, in the form that people write. */
function pathOf(file: Client["file"]): string {
  return placeOn(process.platform, file) ?? file.linux;
}

type ConnectAll = ConnectOptions & { all?: boolean; hook?: boolean };

export function define(program: Command, { configure, env }: Context): void {
  const command = program.command("connect");
  command
    .addArgument(
      // The parser has a better error message than Commander.
      new Argument("[agent]", "the agent; without one, lists all agents")
        .choices(CLIENTS.map(({ id }) => id))
        .argParser(parseClient),
    )
    .summary("connect an agent to this memory: writes the agent's settings")
    .description(
      "Writes an agent's settings so that it uses this memory. Shows the changes and asks first. It keeps a copy of the file as it was, and changes nothing else in it.",
    )
    .optionsGroup("Options:")
    .option(
      "--recall",
      "add what is known about the project, and about each prompt, to its conversations",
    )
    .option("--capture", "save the turns of its conversations, for 90 days")
    .option("--allow", "let it use the memory without asking each time")
    .option("--all", "all agents that are found on this machine")
    .option("-y, --yes", "do not ask for confirmation")
    .optionsGroup("To look, or to undo:")
    .option("--print", "print the settings, and write nothing")
    .option("--no-recall", "stop adding to its conversations")
    .option("--no-capture", "stop saving its conversations")
    .option("--remove", "disconnect the agent, and undo everything")
    .optionsGroup("A server on another machine:")
    .option("--url <url>", "its address, such as https://memory.example.com", parseOrigin)
    .option(
      "--key",
      "with --url: use an API key (asked for, or read as one line of standard input) instead of sign-in; ctxd keeps it",
    )
    .option("--direct", "with --key: let the agent connect itself, with the key in its settings")
    .addOption(new Option("--hook").hideHelp())
    .addHelpText("after", `\n${CONNECT_NOTES}`)
    .addHelpText(
      "after",
      examples(
        "ctxd connect claude-code",
        "ctxd connect claude-code --recall --capture --allow",
        "ctxd connect --all",
        "ctxd connect cursor --url https://memory.example.com",
        "ctxd connect codex --url https://memory.example.com --key",
        "ctxd connect claude-code --url https://memory.example.com --recall --capture",
      ),
    )
    .action(async (client: Client | undefined, { all, hook, ...rest }: ConnectAll) => {
      // --hook is the former name of --recall.
      const options = hook ? { ...rest, recall: true } : rest;
      if (client && all) command.error("error: Use --all or an agent, not both.");
      if (all && options.print) command.error("error: --print needs one agent, not --all.");
      const clients = all ? installedClients(env) : client ? [client] : [];
      if (clients.length > 0) return connectClients(configure(), clients, options, env);
      if (all) {
        throw new CommandError(
          "No agent that ctxd knows was found: ctxd connect lists the agents.",
        );
      }
      if (Object.keys(options).length > 0) {
        command.error("error: Name an agent too: ctxd connect without options lists them.");
      }
      return listClients(env);
    });
}

/** The clients that have something, as a list for people. */
function idsOf(has: (client: Client) => unknown): string {
  return new Intl.ListFormat("en-GB").format(CLIENTS.filter(has).map(({ id }) => id));
}

const CONNECT_NOTES = `Without --url the agent uses the memory on this machine: no account, no key, no set-up.
What an agent has no settings for is skipped, and the command says so:
--recall and --capture work with
  ${idsOf(({ hooks, plugin }) => hooks ?? plugin)},
--allow with ${idsOf(({ approval }) => approval)}.
ctxd help capture explains what is saved. --remove gives back files as they were, except for what
others have changed in them. With --url alone the agent signs in to a remote server, in the browser,
when it first connects. With --key, --recall or --capture it starts ctxd, which passes everything on
to that server with an API key, the project of the folder and the session. The key is in a file that
only you can read, and goes with the last agent that uses it. claude.ai and ChatGPT are connected in
their own settings: enter the server's address followed by /mcp.`;

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
  throw new InvalidArgumentError(`\n${hint}Agents: ${CLIENTS.map((each) => each.id).join(", ")}.`);
}

/**
 * `ctxd connect AGENT`, and `ctxd connect --all`. With several clients, one that can't be changed is
 * reported and does not stop the others.
 */
async function connectClients(
  config: Config,
  clients: readonly Client[],
  options: ConnectOptions,
  env: Environment,
): Promise<void> {
  checkOptions(options);
  const key = await keyFor(config, options);
  const bridged = isBridged(options);
  const connectsHere = !options.remove && !options.url && !options.print;
  const around = surroundingsOf(env);
  const byPlugin = connectsHere ? clients.filter((client) => hasPlugin(client, around)) : [];
  if (byPlugin.length > 0 && clients.length === 1) throw new CommandError(HAS_PLUGIN);
  for (const _ of byPlugin) say(HAS_PLUGIN);
  const plans: Plan[] = [];
  const problems: string[] = [];
  for (const client of clients.filter((each) => !byPlugin.includes(each))) {
    const wanted = wantedOf(client, options, key, config, env);
    if (options.print && wanted.entry) {
      await printEntry(client, wanted.entry, wanted, describeSkipped(client, options));
      continue;
    }
    try {
      plans.push({ client, changes: await plan(client, wanted, options, env) });
    } catch (error) {
      if (!(error instanceof ConnectError) || clients.length === 1) throw error;
      problems.push(error.message);
    }
  }
  await applyPlans(plans, options, { key: bridged ? null : key, around });
  if (bridged && options.url && key !== null) {
    createDataFolder(config.dataDir);
    await keepKey(config, options.url, key);
  }
  forgetUnused(config, plans, around);
  for (const problem of problems) say(problem);
  if (problems.length > 0) throw new CommandError(`${problems.length} could not be changed.`);
}

function wantedOf(
  client: Client,
  options: ConnectOptions,
  key: string | null,
  config: Config,
  env: Environment,
): WantedSettings {
  const { recall, capture, allow, remove, url } = options;
  const { approval } = client;
  const bridged = isBridged(options);
  const agent = ["--agent", client.id, ...(bridged && url ? ["--url", url.origin] : [])];
  const launch = (words: readonly string[]) => {
    const { command, args } = launchOf(words, config, env);
    return [command, ...args];
  };
  const entry =
    url && !bridged
      ? client.remote({ url: `${url.origin}/mcp`, key })
      : client.local(launchOf(["mcp", ...agent], config, env));
  // Hooks of an agent that connects itself would use the memory on this machine.
  const hasHooks = !remove && (!url || bridged);
  return {
    entry: remove ? null : { ...entry, ...(allow && approval !== "rule" && approval) },
    hooks: hasHooks ? { recall, capture } : { recall: false, capture: false },
    isAllowed: remove ? false : allow,
    commandOf: (kind) => toShell(launch([kind, ...agent])),
    program: launch([]),
    options: agent,
  };
}

/** Plans the changes for a client. On a terminal it asks whether Claude Code should recall. */
async function plan(
  client: Client,
  wanted: WantedSettings,
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
