import { type Command, Option } from "commander";
import { RECALL_CHARACTERS } from "../capture/recall-limits.ts";
import type { CaptureOptions } from "./capture.ts";
import { examples } from "./examples.ts";
import type { Environment } from "./failure.ts";
import type { Configure } from "./program.ts";
import type { RecallOptions } from "./recall.ts";

/** The commands that agents run by themselves, by their hooks. */
export function addHookCommands(program: Command, configure: Configure, env: Environment): void {
  addRecall(program, configure, env);
  addCapture(program, configure, env);
}

/** The same command again, with more time. */
const LATER = new Option("--later").hideHelp();
/** A plugin's hooks are always there; its settings come as variables. */
const IF = new Option("--if <variable>", "do nothing unless this environment variable is true");

function addRecall(program: Command, configure: Configure, env: Environment): void {
  asHook(program.command("recall"))
    .summary("print what is known that matters for a conversation")
    .description(
      "Prints what is known of the project in this folder and of your preferences. As a hook of an agent, which ctxd connect CLIENT --recall sets up, it also finds what matters for each prompt, and tells nothing twice in a conversation. Prints nothing when nothing is known.",
    )
    .option("--agent <name>", "the agent whose hook runs it")
    .option("--project <name>", "the project; by default that of the folder")
    .option(
      "--budget <characters>",
      `characters to print at the most (${RECALL_CHARACTERS.default})`,
    )
    .addOption(IF)
    .addOption(LATER)
    .addHelpText("after", examples("ctxd recall", "ctxd recall --project acme/shop"))
    .action(async (options: RecallOptions) =>
      (await import("./recall.ts")).recall(configure, options, env),
    );
}

function addCapture(program: Command, configure: Configure, env: Environment): void {
  asHook(program.command("capture"))
    .summary("save what was said in an agent's conversation: what its hooks run")
    .description(
      "An agent's hook runs this at the end of a turn, before a conversation is compacted and at its end; ctxd connect CLIENT --capture sets it up. What you said and what the agent answered is saved, if it is new: with project, session and time, without what tools put out, secrets masked, and for 90 days. The exit code is 0 whatever happens, so that no agent fails by it.",
    )
    .option("--agent <name>", "the agent whose hook runs it (agent_id)")
    .option("--project <name>", "the project; by default that of the folder")
    .option("--keep <days>", "days after which it is forgotten, or forever (90)")
    .addOption(IF)
    .addOption(LATER)
    .addHelpText("after", examples("ctxd connect claude-code --capture", "ctxd capture --help"))
    .action(async (options: CaptureOptions) =>
      (await import("./capture.ts")).capture(configure, options, env),
    );
}

/** An agent takes a wrong option for a refusal, and settings may be those of another version. */
function asHook(command: Command): Command {
  return command.allowUnknownOption().allowExcessArguments();
}
