import { join } from "node:path";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { type Config, type Flags, readConfig, SETTINGS } from "../config.ts";
import { createLog } from "../log.ts";
import { AgentId } from "../memories/memory.ts";
import { problemOf } from "../schema.ts";
import { addConnectCommands } from "./connect-commands.ts";
import type { DoctorOptions } from "./doctor.ts";
import { parseExpiry } from "./expiry.ts";
import { type Environment, reportFailure, USAGE } from "./failure.ts";
import { checkoutDataDir, describeCommand } from "./invocation.ts";
import { say } from "./terminal.ts";
import { parseOrigin, parseUrl } from "./url.ts";

/** What the actions need of the command line beside their own arguments. */
interface GlobalOptions {
  dataDir?: string;
}

/**
 * Runs one command.
 * @param args the command line without the program
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage
 */
export async function run(args: readonly string[], env: Environment): Promise<number> {
  try {
    await createProgram(env).parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    // Commander has said what is wrong; asking for help or for the version is not.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    return reportFailure(error, env);
  }
}

/** The whole command line. What a command needs to run is loaded when it runs. */
function createProgram(env: Environment): Command {
  const program = new Command("ctxd")
    .description(packageJson.description)
    .usage("[command] [options]")
    .version(packageJson.version, "-V, --version", "print the version")
    .option("--data-dir <folder>", "where everything is kept (CTXD_DATA_DIR)")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "explain a command")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, "ctxd: ")),
    })
    .showHelpAfterError("Run ctxd help to see what is possible.")
    .exitOverride();

  const configure = (flags: Flags = {}): Config => {
    const { dataDir } = program.opts<GlobalOptions>();
    const all = dataDir === undefined ? flags : { ...flags, CTXD_DATA_DIR: dataDir };
    return readConfig(env, all, checkoutDataDir);
  };

  addServe(program, configure, env);
  addMcp(program, configure, env);
  addConnectCommands(program, configure, env);
  addHealth(program, configure);
  addUserCommands(program, configure, env);
  addKeyCommands(program, configure);
  addGrantCommands(program, configure);
  addTransferCommands(program, configure, env);
  addBackupCommands(program, configure, env);
  addDoctor(program, configure, env);
  return program;
}

/** Reads the settings, the flags of a command among them. */
export type Configure = (flags?: Flags) => Config;

interface ServeOptions {
  host?: string;
  port?: string;
  background?: number;
}

function addServe(program: Command, configure: Configure, env: Environment): void {
  program
    .command("serve", { isDefault: true })
    .summary("run the server (what ctxd does without a command)")
    .description("Runs the server until it is told to stop (Ctrl-C or SIGTERM).")
    .option("--host <address>", "address to listen on (CTXD_HOST, 127.0.0.1)")
    .option("--port <number>", "port to listen on (CTXD_PORT, 7733)")
    .addOption(
      new Option("--background <seconds>", "end after so many seconds without a client")
        .argParser(parseSeconds)
        .hideHelp(),
    )
    .addHelpText("after", `\nSettings, from the environment:\n${describeSettings()}`)
    .allowExcessArguments()
    .action(async ({ host, port, background }: ServeOptions, command: Command) => {
      // As serve is the default command, a command that does not exist arrives here.
      const [unknown] = command.args;
      if (unknown !== undefined) program.error(`error: unknown command '${unknown}'`);
      const config = configure({
        ...(host === undefined ? {} : { CTXD_HOST: host }),
        ...(port === undefined ? {} : { CTXD_PORT: port }),
      });
      const { serve } = await import("./serve.ts");
      if (background === undefined) return serve(config, createLog(config), env);
      const { createLogFile } = await import("./log-file.ts");
      const log = createLog(config, createLogFile(join(config.dataDir, "background.log")));
      await serve(config, log, env, { idleSeconds: background });
    });
}

function addMcp(program: Command, configure: Configure, env: Environment): void {
  program
    .command("mcp")
    .summary("connect an agent on this machine (MCP over standard input and output)")
    .description(
      "Connects an agent on this machine: speaks MCP on standard input and output.\nNeeds no account and no key. Starts a server in the background when none runs.",
    )
    .option("--agent <name>", "agent that new memories belong to (agent_id)", parseAgent)
    .action(async (options: { agent?: string }) =>
      (await import("./mcp.ts")).connectAgent(configure(), options, env),
    );
}

function parseSeconds(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Use a whole number of seconds.");
}

function parseAgent(name: string): string {
  const problem = problemOf(AgentId, name);
  if (problem === null) return name;
  throw new InvalidArgumentError(`It ${problem}.`);
}

function addHealth(program: Command, configure: Configure): void {
  program
    .command("health")
    .summary("ask a running server whether it works")
    .description(
      "Asks a running server whether it works: one line, and the exit code 0 or 1.\nWithout --url, the server is the one that the settings describe.",
    )
    .option("--url <url>", "where the server is, such as https://memory.example.com", parseUrl)
    .action(async (options: { url?: URL }) =>
      (await import("./health.ts")).checkHealth(configure(), options),
    );
}

function addUserCommands(program: Command, configure: Configure, env: Environment): void {
  const user = program
    .command("user")
    .description("manage the accounts: add, list, passwd, remove");
  user
    .command("add")
    .argument("<email>", "e-mail address to sign in with")
    .summary("add an account")
    .description(
      "Adds an account; the first one owns the server.\nThe password is asked for, or read as one line of standard input.",
    )
    .action(async (email: string) => {
      const config = configure();
      const { addUser } = await import("./user.ts");
      const added = await addUser(config, email);
      const key = `key create --user ${added} --name NAME`;
      say(`Make a key for an agent: ${describeCommand(key, config, env)}`);
    });
  user
    .command("list")
    .description("list the accounts")
    .option("--json", "as JSON")
    .action(async (options: { json?: boolean }) =>
      (await import("./user.ts")).listUsers(configure(), options),
    );
  user
    .command("passwd")
    .argument("<email>", "e-mail address of the account")
    .summary("change an account's password")
    .description(
      "Changes an account's password.\nThe new one is asked for, or read as one line of standard input.",
    )
    .action(async (email: string) =>
      (await import("./user.ts")).changePassword(configure(), email),
    );
  user
    .command("remove")
    .argument("<email>", "e-mail address of the account")
    .summary("remove an account, its keys and its memories")
    .description("Removes an account with its keys and memories, for good.")
    .option("-y, --yes", "do not ask whether this is meant")
    .action(async (email: string, options: { yes?: boolean }) =>
      (await import("./user.ts")).removeUser(configure(), email, options),
    );
}

function addKeyCommands(program: Command, configure: Configure): void {
  const key = program.command("key").description("manage the API keys: create, list, revoke");
  key
    .command("create")
    .summary("make an API key")
    .description("Makes an API key and prints it, nothing else, on standard output: once.")
    .requiredOption("--user <email>", "account that the key is for")
    .requiredOption("--name <name>", "what the key is for, such as the agent's name")
    .addOption(
      new Option("--scope <scope>", "read: a key that can't change anything").choices(["read"]),
    )
    .option("--expires <when>", "12h, 90d, 2w, 1y, or a date: 2027-01-31", parseExpiry)
    .addHelpText("after", "\nExample:\n  ctxd key create --user you@example.com --name laptop")
    .action(async (options: { user: string; name: string; scope?: "read"; expires?: Date }) =>
      (await import("./key.ts")).createKey(configure(), options),
    );
  key
    .command("list")
    .description("list the API keys, revoked and expired ones too")
    .option("--user <email>", "only the keys of this account")
    .option("--json", "as JSON")
    .action(async (options: { user?: string; json?: boolean }) =>
      (await import("./key.ts")).listKeys(configure(), options),
    );
  key
    .command("revoke")
    .argument("<id>", "the key's id, as ctxd key list shows it")
    .summary("revoke an API key")
    .description("Revokes an API key for good: it is refused from its next request on.")
    .action(async (id: string) => (await import("./key.ts")).revokeKey(configure(), id));
}

function addGrantCommands(program: Command, configure: Configure): void {
  const grant = program
    .command("grant")
    .description("manage what apps have been allowed by sign-in: list, revoke");
  grant
    .command("list")
    .description("list the grants, revoked ones of the last 30 days too")
    .option("--user <email>", "only the grants of this account")
    .option("--json", "as JSON")
    .action(async (options: { user?: string; json?: boolean }) =>
      (await import("./grant.ts")).listGrants(configure(), options),
    );
  grant
    .command("revoke")
    .argument("<id>", "the grant's id, as ctxd grant list shows it")
    .summary("revoke a grant")
    .description("Revokes a grant for good: its tokens are refused from their next request on.")
    .option("--json", "print the grant as JSON")
    .action(async (id: string, options: { json?: boolean }) =>
      (await import("./grant.ts")).revokeGrant(configure(), id, options),
    );
}

function addTransferCommands(program: Command, configure: Configure, env: Environment): void {
  const user = () => new Option("--user <email>", "account (by default the server's owner)");
  program
    .command("export")
    .argument("<file>", "where to; - is standard output")
    .summary("write all memories of an account to a file")
    .description(
      "Writes all memories of an account to a file, one a line as JSON, also while the server runs.\nIt has everything that ctxd import needs to have them elsewhere just so.",
    )
    .addOption(user())
    .addHelpText("after", "\nExample:\n  ctxd export memories.jsonl")
    .action(async (file: string, options: { user?: string }) =>
      (await import("./export.ts")).exportTo(configure(), file, options, env),
    );
  program
    .command("import")
    .argument("<file>", "a file, a folder of notes, or - for standard input")
    .summary("bring in memories from ctxd or from other programs")
    .description(
      `Brings in memories; what the file is, it finds out:
  ctxd export, mem0, mcp-memory-service, the file of the MCP memory server (JSON lines),
  a folder of Markdown notes (basic-memory, Obsidian), the memories of Claude's data export,
  lists copied from ChatGPT or Claude, a list in JSON, text and Markdown (a memory for each
  paragraph and list item).
What is there already stays: the same file again changes nothing, and goes on where it broke off.`,
    )
    .addOption(user())
    .option("--dry-run", "only tell what would be done")
    .addHelpText("after", "\nExample:\n  ctxd import ~/notes --dry-run")
    .action(async (file: string, options: { user?: string; dryRun?: boolean }) =>
      (await import("./import.ts")).importFrom(configure(), file, options, env),
    );
}

function addBackupCommands(program: Command, configure: Configure, env: Environment): void {
  program
    .command("backup")
    .argument("<folder>", "a new or empty folder, best on another disk")
    .summary("copy all data, also while the server runs")
    .description(
      "Copies everything in the data folder as it is at one moment, also while the server runs.\nEvery file is checksummed and on the disk when this ends; without backup.json it is no backup.\nKeep it as safe as the data: it holds all memories.",
    )
    .addHelpText("after", "\nExample:\n  ctxd backup /mnt/usb/ctxd-2027-01-31")
    .action(async (folder: string) => (await import("./backup.ts")).backUp(configure(), folder));
  program
    .command("restore")
    .argument("<folder>", "what ctxd backup made")
    .summary("put a backup into an empty data folder")
    .description(
      "Puts a backup into the data folder, which must have no data yet and no server.\nEvery checksum is compared before the first byte is written.",
    )
    .addHelpText(
      "after",
      "\nExample:\n  ctxd restore /mnt/usb/ctxd-2027-01-31 --data-dir ~/ctxd-restored",
    )
    .action(async (folder: string) =>
      (await import("./restore.ts")).restore(configure(), folder, env),
    );
}

function addDoctor(program: Command, configure: Configure, env: Environment): void {
  program
    .command("doctor")
    .summary(
      "check data, disk, model, port and clock, or a server elsewhere, and say how to mend them",
    )
    .description(
      "Checks everything that a server needs, one line each, and says how to mend what is wrong. Changes nothing. The exit code is 0 when there is no problem. Stop the server to have all memories read.",
    )
    .option(
      "--url <url>",
      "check a server as agents elsewhere meet it, in place of this machine",
      parseOrigin,
    )
    .option("--key", "with --url: try an API key too (asked for, or a line of standard input)")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  ctxd doctor\n  ctxd doctor --url https://memory.example.com",
    )
    .action(async (options: DoctorOptions) =>
      (await import("./doctor.ts")).runDoctor(configure, options, env),
    );
}

function describeSettings(): string {
  const entries = Object.entries(SETTINGS);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, { meaning }]) => `  ${name.padEnd(width)}  ${meaning}`).join("\n");
}
