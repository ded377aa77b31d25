import { type Command, InvalidArgumentError } from "commander";
import { LIMITS, MEMORY_ID, Project, SessionId, Tag } from "../memories/memory.ts";
import { instant, parseInstant, problemOf } from "../schema.ts";
import { examples } from "./examples.ts";
import { parseExpiry } from "./expiry.ts";
import type { Environment } from "./failure.ts";
import type { ForgetOptions } from "./forget.ts";
import { nameParser } from "./name-options.ts";
import type { Configure } from "./program.ts";
import type { SaveOptions } from "./save.ts";
import type { SearchOptions } from "./search.ts";
import type { StatusOptions } from "./status.ts";
import { targetOptions } from "./target-options.ts";

/** The commands by which people use the memory themselves. */
export function addMemoryCommands(program: Command, configure: Configure, env: Environment) {
  addSave(program, configure, env);
  addSearch(program, configure, env);
  addForget(program, configure, env);
  addStatus(program, configure, env);
}

const PROJECT_NOTE = `In a folder of a git repository the project is that of ctxd mcp: owner/repo of the remote
origin, or the name of the repository's folder. Elsewhere there is none.`;

function addSave(program: Command, configure: Configure, env: Environment): void {
  program
    .command("save")
    .argument("[text...]", "what to remember; - or nothing is standard input")
    .summary("save a memory")
    .description(
      "Saves a memory and prints its id. In a folder of a git repository it belongs to that project, as what agents save there.",
    )
    .option("--project <name>", "the project that it belongs to", nameParser(Project))
    .option("--no-project", "it belongs to no project: it is of use everywhere")
    .option("--tag <tag>", "a label to filter by; may be repeated", collectTags)
    .option("--importance <number>", "0 to 1, the higher, the slower it fades (0.5)", parseShare)
    .option("--pin", "it never fades")
    .option("--expires <when>", "forget it then: 12h, 90d, 2w, 1y, or a date", parseExpiry)
    .option("--supersedes <id>", "the memory whose place it takes", parseId)
    .option("--json", "print the whole memory, as JSON")
    .addOption(targetOptions.user())
    .addOption(targetOptions.url())
    .addHelpText("after", `\n${PROJECT_NOTE}`)
    .addHelpText(
      "after",
      examples(
        "ctxd save The staging server is rebuilt every Monday",
        "ctxd save --no-project --tag food 'Sam is allergic to peanuts'",
        "git log -1 --format=%B | ctxd save --tag release",
      ),
    )
    .action(async (words: string[], options: SaveOptions) =>
      (await import("./save.ts")).save(configure(), words, options, env),
    );
}

function addSearch(program: Command, configure: Configure, env: Environment): void {
  program
    .command("search")
    .argument(
      "[words...]",
      "what to look for, as a question or in words; - or nothing is standard input",
    )
    .summary("find memories by meaning")
    .description(
      "Finds memories by their meaning and prints them, the best first; nothing where nothing is known. In a folder of a git repository, those of that project and those of none.",
    )
    .option("--project <name>", "those of this project, and those of none", nameParser(Project))
    .option("--all-projects", "those of all projects")
    .option(
      "--tag <tag>",
      "only those with this label; may be repeated, one is enough",
      collectTags,
    )
    .option("--limit <number>", "how many at the most (10)", parseLimit)
    .option("--guesses", "also what is too far off to be taken for an answer")
    .option("--history", "also what was true before, and superseded since")
    .option("--json", "as JSON, as the API has it")
    .addOption(targetOptions.user())
    .addOption(targetOptions.url())
    .addHelpText("after", `\n${PROJECT_NOTE}`)
    .addHelpText(
      "after",
      examples(
        "ctxd search which food makes Sam ill",
        "ctxd search --all-projects --limit 3 how do we deploy",
        "ctxd search --json staging server | jq '.memories[].content'",
      ),
    )
    .action(async (words: string[], options: SearchOptions) =>
      (await import("./search.ts")).search(configure(), words, options, env),
    );
}

function addForget(program: Command, configure: Configure, env: Environment): void {
  program
    .command("forget")
    .argument("[what...]", "ids of memories, or words: what is found is shown, to choose from")
    .summary("delete memories for good")
    .description(
      "Deletes memories for good: those named by their ids, those that you choose from what is found, or all that pass the options. It shows them first and asks.",
    )
    .option("--project <name>", "all of this project", nameParser(Project))
    .option("--tag <tag>", "all with this label; may be repeated, one is enough", collectTags)
    .option("--agent <name>", "all of this agent")
    .option("--session <id>", "all of this conversation", nameParser(SessionId))
    .option("--source <id>", "all that this key, app or account wrote")
    .option("--captured", "only what was captured from conversations")
    .option("--before <date>", "only what is older: 2026-12-31", parseMoment)
    .option("--history", "with ids: also what they superseded, and what superseded them")
    .option("-y, --yes", "do not ask whether this is meant")
    .option("--json", "print what was deleted, as JSON")
    .addOption(targetOptions.user())
    .addOption(targetOptions.url())
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

function addStatus(program: Command, configure: Configure, env: Environment): void {
  program
    .command("status")
    .summary("tell what is known, where it is kept, and which agents are connected")
    .description(
      "Tells whether the server runs, where everything is kept, how much is known in all and of the project of this folder, and which agents of this machine are connected.",
    )
    .option("--project <name>", "another project than that of this folder", nameParser(Project))
    .option("--json", "as JSON")
    .addOption(targetOptions.user())
    .addHelpText("after", examples("ctxd status", "ctxd status --json"))
    .action(async (options: StatusOptions) =>
      (await import("./status.ts")).showStatus(configure(), options, env),
    );
}

function collectTags(tag: string, before: readonly string[] = []): string[] {
  const problem = problemOf(Tag, tag);
  if (problem !== null) throw new InvalidArgumentError(`It ${problem}.`);
  return [...before, tag];
}

function parseShare(text: string): number {
  const number = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 0 && number <= 1) return number;
  throw new InvalidArgumentError("Use a number from 0 to 1.");
}

function parseLimit(text: string): number {
  const number = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= LIMITS.page) return number;
  throw new InvalidArgumentError(`Use a whole number from 1 to ${LIMITS.page}.`);
}

function parseId(text: string): string {
  if (MEMORY_ID.test(text)) return text;
  throw new InvalidArgumentError("Use an id such as mem_0197f2c4e0b47c3a9a1d5b8e2f60c711.");
}

function parseMoment(text: string): string {
  if (parseInstant(text) !== null) return text;
  throw new InvalidArgumentError(`It ${problemOf(instant({}), text)}.`);
}
