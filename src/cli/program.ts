import { existsSync } from "node:fs";
import { Command, CommanderError } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { readConfig } from "../config/config.ts";
import { checkoutDataDir, describeProgram } from "../server/invocation.ts";
import {
  type Configure,
  type Context,
  type Define,
  type Environment,
  examples,
  isCalled,
} from "./context.ts";
import { CommandError, plainUsageError, reportFailure, USAGE } from "./terminal.ts";

type Load = () => Promise<{ define: Define }>;

const dashboard: Load = () => import("./commands/dashboard.ts");
const completion: Load = () => import("./commands/completion.ts");

/** Every command with its module, in the order of the help. A module is loaded when its command is named. */
const COMMANDS: Readonly<Record<string, Load>> = {
  serve: () => import("./commands/serve.ts"),
  save: () => import("./commands/save.ts"),
  search: () => import("./commands/search.ts"),
  forget: () => import("./commands/forget.ts"),
  move: () => import("./commands/move.ts"),
  tidy: () => import("./commands/tidy.ts"),
  status: () => import("./commands/status.ts"),
  mcp: () => import("./commands/mcp.ts"),
  connect: () => import("./commands/connect/connect.ts"),
  recall: () => import("./commands/recall.ts"),
  capture: () => import("./commands/capture.ts"),
  dashboard,
  open: dashboard,
  health: () => import("./commands/health.ts"),
  migrate: () => import("./commands/migrate.ts"),
  user: () => import("./commands/user/user.ts"),
  space: () => import("./commands/space/space.ts"),
  key: () => import("./commands/key.ts"),
  grant: () => import("./commands/grant.ts"),
  security: () => import("./commands/security.ts"),
  export: () => import("./commands/export.ts"),
  import: () => import("./commands/import.ts"),
  backup: () => import("./commands/backup.ts"),
  restore: () => import("./commands/restore.ts"),
  model: () => import("./commands/model.ts"),
  doctor: () => import("./commands/doctor.ts"),
  service: () => import("./commands/service.ts"),
  upgrade: () => import("./commands/upgrade.ts"),
  completion,
  complete: completion,
};

/** The one that no help shows: shells run it. */
const HIDDEN = "complete";
const DEFAULT = "serve";

/**
 * Runs one command.
 * @param args the command line without the program
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage
 */
export async function run(args: readonly string[], env: Environment): Promise<number> {
  try {
    const program = await createProgram(env, commandsFor(args));
    await program.parseAsync(toHelpFlag(args, program), { from: "user" });
    return 0;
  } catch (error) {
    // Commander has printed what is wrong. Asking for help or for the version is no error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    return reportFailure(error, env);
  }
}

/**
 * The command line.
 * @param names commands to add; by default all of them, as for the help and the manual page
 */
export async function createProgram(
  env: Environment,
  names: readonly string[] = Object.keys(COMMANDS),
): Promise<Command> {
  // In a checkout, no program is called ctxd.
  const here = Bun.isStandaloneExecutable ? "" : `\nHere, ctxd is: ${describeProgram(env)}`;
  const program = new Command("ctxd")
    .description(packageJson.description)
    .usage("[command] [options]")
    .version(packageJson.version, "-V, --version", "print the version")
    .option("--data-dir <folder>", "where everything is kept (CTXD_DATA_DIR)")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "explain a command")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      outputError: (text, write) => write(plainUsageError(text)),
    })
    .showHelpAfterError("Run ctxd help to see all commands.")
    .addHelpText(
      "after",
      `${examples("ctxd", "ctxd connect", "ctxd save Sam likes tea", "ctxd search what does Sam like")}\n\nExit codes: 0 done, 1 failed, 2 wrong usage.${here}`,
    )
    .exitOverride();

  const configure: Configure = (flags = {}) => {
    const { dataDir } = program.opts<{ dataDir?: string }>();
    const all = dataDir === undefined ? flags : { ...flags, CTXD_DATA_DIR: dataDir };
    return readConfig(env, all, checkoutDataDir);
  };
  const configureExisting: Context["configureExisting"] = ({ url } = {}) => {
    const config = configure();
    if (!url && !config.shared && !existsSync(config.dataDir)) {
      throw new CommandError(
        `There is no data folder ${config.dataDir}: ctxd save and ctxd serve create one.`,
      );
    }
    return config;
  };
  const loaded = new Set<Load>();
  const context: Context = {
    env,
    configure,
    configureExisting,
    names: Object.keys(COMMANDS).filter((name) => name !== HIDDEN),
    async load(name) {
      const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
      if (!load || loaded.has(load)) return;
      loaded.add(load);
      (await load()).define(program, context);
      for (const command of program.commands) pointToHelp(command);
    },
  };
  for (const name of names) await context.load(name);
  return program;
}

/** Makes an error of a command name the help of this command. @param within the names of the commands above it */
function pointToHelp(command: Command, within = ""): void {
  const name = `${within}${command.name()}`;
  command.showHelpAfterError(`Run ctxd help ${name} to see how it is used.`);
  for (const each of command.commands) pointToHelp(each, `${name} `);
}

/** The commands that a command line needs: the one that it names, or all for the help. */
function commandsFor(args: readonly string[]): readonly string[] | undefined {
  const [first, second] = withoutDataDir(args);
  if (first === "--version" || first === "-V") return [];
  const isHelp = first === "help" || first === "--help" || first === "-h";
  const name = first === "help" ? second : first;
  if (isHelp && (name === undefined || name.startsWith("-"))) return undefined;
  return [name !== undefined && Object.hasOwn(COMMANDS, name) ? name : DEFAULT];
}

function withoutDataDir(args: readonly string[]): readonly string[] {
  const [first = ""] = args;
  if (first === "--data-dir") return withoutDataDir(args.slice(2));
  return first.startsWith("--data-dir=") ? withoutDataDir(args.slice(1)) : args;
}

/** Turns `help user add` into `user add --help`: Commander knows one word after `help`. */
function toHelpFlag(args: readonly string[], program: Command): readonly string[] {
  const [help, ...words] = args;
  if (help !== "help" || words.length === 0) return args;
  let command: Command | undefined = program;
  for (const word of words) {
    command = command.commands.find((each) => isCalled(each, word));
    if (!command) program.error(`error: unknown command '${words.join(" ")}'`);
  }
  return [...words, "--help"];
}
