import type { Command } from "commander";
import { Project, SessionId } from "../memories/model/memory.ts";
import { collectTags, parseMoment } from "./memory-options.ts";
import { nameParser } from "./name-options.ts";
import { targetOptions } from "./target-options.ts";

/** Adds the argument and the options by which a command selects memories; see `SelectionOptions`. */
export function addSelection(command: Command): Command {
  return command
    .argument(
      "[what...]",
      "ids of memories, - for ids from standard input, or words: choose from what they find",
    )
    .option("--project <name>", "all of this project", nameParser(Project))
    .option("--tag <tag>", "all with this label; may be repeated, one is enough", collectTags)
    .option("--agent <name>", "all of this agent")
    .option("--session <id>", "all of this conversation", nameParser(SessionId))
    .option("--source <id>", "all that this key, app or account wrote")
    .option("--captured", "only what was captured from conversations")
    .option("--before <date>", "only what is older: 2026-12-31", parseMoment)
    .option("-y, --yes", "do not ask for confirmation")
    .addOption(targetOptions.user())
    .addOption(targetOptions.url());
}
