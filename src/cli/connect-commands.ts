import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { Client } from "../connect/client.ts";
import { CLIENTS, clientsLike, findClient } from "../connect/clients.ts";
import { HOSTED_CLIENTS } from "../connect/hosted-clients.ts";
import { AgentId, Project } from "../memories/memory.ts";
import type { ConnectOptions } from "./connect.ts";
import { examples } from "./examples.ts";
import { CommandError, type Environment } from "./failure.ts";
import { addHookCommands } from "./hook-commands.ts";
import type { AgentOptions } from "./mcp.ts";
import { checkProjectOnly, nameParser } from "./name-options.ts";
import type { Configure } from "./program.ts";
import { parseOrigin } from "./url.ts";

/** The commands that bring agents and memory together. */
export function addConnectCommands(program: Command, configure: Configure, env: Environment) {
  addMcp(program, configure, env);
  addConnect(program, configure, env);
  addHookCommands(program, configure, env);
}

function addMcp(program: Command, configure: Configure, env: Environment): void {
  program
    .command("mcp")
    .summary("what an agent on this machine starts (MCP over standard input and output)")
    .description(
      "Speaks MCP on standard input and output: an agent on this machine starts it, ctxd connect tells the agent how. Needs no account and no key. Starts a server in the background when none runs; that opens no port, until ctxd dashboard asks it to.",
    )
    .option("--agent <name>", "agent that new memories belong to (agent_id)", nameParser(AgentId))
    .option(
      "--project <name>",
      "keep the agent to a project: it saves to it, and sees it and the memories of none",
      nameParser(Project),
    )
    .option("--project-only", "with --project: not even the memories of none are seen")
    .addHelpText(
      "after",
      `\nWithout --project, new memories belong to the project of the folder that the agent starts it\nin, and searches see it and the memories of none: owner/repo of the git remote origin, or the\nname of the repository's folder. Elsewhere there is no project. An editor that starts it in\nanother folder is asked which one is open (MCP roots).`,
    )
    .addHelpText("after", examples("ctxd mcp --agent cursor", "ctxd mcp --project acme/shop"))
    .action(async (options: AgentOptions, command: Command) => {
      checkProjectOnly(options, command);
      await (await import("./mcp.ts")).connectAgent(configure(), options, env);
    });
}

function addConnect(program: Command, configure: Configure, env: Environment): void {
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
      const list = await import("./connect-list.ts");
      const clients = all ? list.installedClients(env) : client ? [client] : [];
      if (clients.length > 0) {
        const { connectClients } = await import("./connect.ts");
        await connectClients(configure(), clients, options, env);
      } else if (all) {
        throw new CommandError("No agent that ctxd knows was found: ctxd connect lists them.");
      } else if (Object.keys(options).length > 0) {
        program.error("error: name the client too: ctxd connect alone lists them");
      } else {
        await list.listClients(env);
      }
    });
}

const CONNECT_NOTES = `Without --url the agent uses the memory on this machine: no account, no key, no set-up.
--recall and --capture are for claude-code, codex, gemini, cursor and opencode, --allow for
claude-code, codex and gemini. ctxd help capture tells what is saved. --remove undoes all of it.
With --url it signs in to a server elsewhere, in the browser, when it first connects.
claude.ai and ChatGPT are connected in their own settings, by the address with /mcp after it.`;

type ConnectAll = ConnectOptions & { all?: boolean; hook?: boolean };

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
