import type { Command } from "commander";
import { Project } from "../memories/memory.ts";
import { examples } from "./examples.ts";
import { parseExpiry } from "./expiry.ts";
import type { Environment } from "./failure.ts";
import { collectTags, parseId, parseLimit, parseShare } from "./memory-options.ts";
import { nameParser } from "./name-options.ts";
import type { Configure } from "./program.ts";
import type { SaveOptions } from "./save.ts";
import type { SearchOptions } from "./search.ts";
import { addForget, addMove } from "./selection-commands.ts";
import type { StatusOptions } from "./status.ts";
import { targetOptions } from "./target-options.ts";

/** The commands by which people use the memory themselves. */
export function addMemoryCommands(program: Command, configure: Configure, env: Environment) {
  addSave(program, configure, env);
  addSearch(program, configure, env);
  addForget(program, configure, env);
  addMove(program, configure, env);
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
