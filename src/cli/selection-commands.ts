import type { Command } from "commander";
import { Project, SessionId } from "../memories/memory.ts";
import { examples } from "./examples.ts";
import type { Environment } from "./failure.ts";
import type { ForgetOptions } from "./forget.ts";
import { collectTags, parseMoment } from "./memory-options.ts";
import type { MoveOptions } from "./move.ts";
import { nameParser } from "./name-options.ts";
import type { Configure } from "./program.ts";
import { targetOptions } from "./target-options.ts";

const WHAT =
  "ids of memories, - for ids from standard input, or words: what is found is shown, to choose from";

export function addForget(program: Command, configure: Configure, env: Environment): void {
  const command = program
    .command("forget")
    .argument("[what...]", WHAT)
    .summary("delete memories for good")
    .description(
      "Deletes memories for good: those named by their ids, those that you choose from what is found, or all that pass the options. It shows them first and asks.",
    );
  addSelection(command)
    .option("--history", "with ids or words: also what they superseded, and what superseded them")
    .option("--json", "print how many were deleted, as JSON")
    .addHelpText(
      "after",
      examples(
        "ctxd forget mem_0197f2c4e0b47c3a9a1d5b8e2f60c711",
        "ctxd forget the old staging server",
        "ctxd forget --captured --session s-42",
        "ctxd forget --project acme/atlas --before 2026-01-01 --yes",
      ),
    )
    .action(async (what: string[], options: ForgetOptions) =>
      (await import("./forget.ts")).forget(configure(), what, options, env),
    );
}

export function addMove(program: Command, configure: Configure, env: Environment): void {
  const command = program
    .command("move")
    .argument("[what...]", WHAT)
    .summary("move memories to another project")
    .description(
      "Has memories belong to another project, or to none: those named by their ids, those that you choose from what is found, or all that pass the options, such as all of a project whose repository has another name now. It shows them first and asks.",
    );
  addSelection(command)
    .option("--to <project>", "the project that they belong to from then on", nameParser(Project))
    .option("--to-none", "they belong to no project from then on: they are of use everywhere")
    .option("--json", "print how many were moved, as JSON")
    .addHelpText(
      "after",
      examples(
        "ctxd move --project atlas --to acme/atlas",
        "ctxd move --to-none which food makes Sam ill",
      ),
    )
    .action(async (what: string[], options: MoveOptions) =>
      (await import("./move.ts")).move(configure(), what, options, env),
    );
}

/** The options of `SelectionOptions`. */
function addSelection(command: Command): Command {
  return command
    .option("--project <name>", "all of this project", nameParser(Project))
    .option("--tag <tag>", "all with this label; may be repeated, one is enough", collectTags)
    .option("--agent <name>", "all of this agent")
    .option("--session <id>", "all of this conversation", nameParser(SessionId))
    .option("--source <id>", "all that this key, app or account wrote")
    .option("--captured", "only what was captured from conversations")
    .option("--before <date>", "only what is older: 2026-12-31", parseMoment)
    .option("-y, --yes", "do not ask whether this is meant")
    .addOption(targetOptions.user())
    .addOption(targetOptions.url());
}
