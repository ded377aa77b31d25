import { Command, CommanderError } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { type Config, readConfig } from "../config.ts";
import { checkoutDataDir, describeProgram } from "../server/invocation.ts";
import type { Flags } from "../settings.ts";
import { addGrantCommands, addKeyCommands, addUserCommands } from "./account-commands.ts";
import { addCompletion, isCalled } from "./completion.ts";
import { addConnectCommands } from "./connect-commands.ts";
import { addBackupCommands, addTransferCommands } from "./data-commands.ts";
import { examples } from "./examples.ts";
import { type Environment, reportFailure, USAGE } from "./failure.ts";
import { addMemoryCommands } from "./memory-commands.ts";
import { addModelCommands } from "./model-commands.ts";
import { addSecurity } from "./security-commands.ts";
import { addDashboard, addDoctor, addHealth, addMigrate, addServe } from "./server-commands.ts";
import { addServiceCommands } from "./service-commands.ts";
import { addUpgrade } from "./upgrade-command.ts";

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
    const program = createProgram(env);
    await program.parseAsync(toHelpFlag(args, program), { from: "user" });
    return 0;
  } catch (error) {
    // Commander has said what is wrong; asking for help or for the version is not.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    return reportFailure(error, env);
  }
}

/** The whole command line. What a command needs to run is loaded when it runs. */
export function createProgram(env: Environment): Command {
  // In a checkout, nothing is called ctxd.
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
      outputError: (text, write) => write(text.replace(/^error: /, "ctxd: ")),
    })
    .showHelpAfterError("Run ctxd help to see what is possible.")
    .addHelpText(
      "after",
      `${examples("ctxd", "ctxd connect", "ctxd save Sam likes tea", "ctxd search what does Sam like")}\n\nExit codes: 0 done, 1 failed, 2 wrong usage.${here}`,
    )
    .exitOverride();

  const configure = (flags: Flags = {}): Config => {
    const { dataDir } = program.opts<GlobalOptions>();
    const all = dataDir === undefined ? flags : { ...flags, CTXD_DATA_DIR: dataDir };
    return readConfig(env, all, checkoutDataDir);
  };

  addServe(program, configure, env);
  addMemoryCommands(program, configure, env);
  addConnectCommands(program, configure, env);
  addDashboard(program, configure, env);
  addHealth(program, configure);
  addMigrate(program, configure);
  addUserCommands(program, configure, env);
  addKeyCommands(program, configure);
  addGrantCommands(program, configure);
  addSecurity(program, configure);
  addTransferCommands(program, configure, env);
  addBackupCommands(program, configure, env);
  addModelCommands(program, configure, env);
  addDoctor(program, configure, env);
  addServiceCommands(program, configure, env);
  addUpgrade(program, configure, env);
  addCompletion(program);
  return program;
}

/** `help user add` as `user add --help`: the library knows one word after `help`. */
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

/** Reads the settings, the flags of a command among them. */
export type Configure = (flags?: Flags) => Config;
