import type { Command } from "commander";
import { projectOfFolder } from "../../capture/project.ts";
import type { Config } from "../../config.ts";
import { describeMemory, excerptAround, wholeMemory } from "../../mcp/memory-text.ts";
import type { FoundMemory } from "../../memories/found-memory.ts";
import { Project } from "../../memories/memory.ts";
import { openApi, type Target } from "../api.ts";
import { CommandError, USAGE } from "../command-error.ts";
import type { Context, Environment } from "../context.ts";
import { examples, PROJECT_NOTE } from "../help-text.ts";
import { inputText } from "../input-text.ts";
import { collectTags, parseLimit } from "../memory-options.ts";
import { nameParser } from "../name-options.ts";
import { printable } from "../printable.ts";
import { targetOptions } from "../target-options.ts";
import { print, say } from "../terminal.ts";

/** What `ctxd search` is given beside the words. */
interface SearchOptions extends Target {
  /** By default that of the folder. */
  project?: string;
  allProjects?: boolean;
  tag?: readonly string[];
  limit?: number;
  /** Whether also what is no answer is shown. */
  guesses?: boolean;
  /** Whether also what was superseded is shown. */
  history?: boolean;
  json?: boolean;
}

/** Characters that are shown of a long memory: those around what made it match. */
const SHOWN = 600;

/** Adds the command to the program. */
export function define(program: Command, { configure, env }: Context): void {
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
    .action((words: string[], options: SearchOptions) => search(configure(), words, options, env));
}

/** `ctxd search` */
async function search(
  config: Config,
  words: readonly string[],
  options: SearchOptions,
  env: Environment,
): Promise<void> {
  if (options.project !== undefined && options.allProjects) {
    throw new CommandError("--project and --all-projects don't go together.", USAGE);
  }
  const query = await inputText(words, "There is nothing to look for: give some words.", options);
  using api = await openApi(config, env, options);
  const response = await api.request(`/api/memories/search?${parametersOf(query, options)}`);
  const { memories } = (await response.json()) as { memories: FoundMemory[] };
  if (response.headers.get("ctxd-search-mode") === "keyword") {
    say("Searched by words alone, as the model that knows meanings is still being loaded.");
  }
  if (options.json) return await print(JSON.stringify({ memories }, null, 2));
  if (memories.length > 0) return await print(printable(memories.map(describe).join("\n\n")));
  say("Nothing is known about that.");
}

function parametersOf(query: string, options: SearchOptions): URLSearchParams {
  const project = options.project ?? (options.allProjects ? null : projectOfFolder(process.cwd()));
  return new URLSearchParams({
    q: query,
    known: String(!options.guesses),
    ...(project !== null && { project }),
    ...(options.tag && { tags: options.tag.join(",") }),
    ...(options.limit !== undefined && { limit: String(options.limit) }),
    ...(options.history && { include_superseded: "true" }),
  });
}

/** A memory as people read it: a line about it, then its text, or the part of it that matters. */
function describe(memory: FoundMemory): string {
  const { content, matched } = memory;
  if (content.length <= SHOWN) return describeMemory(wholeMemory(memory));
  const part = excerptAround(content, matched, SHOWN);
  return describeMemory({ memory, content: part, isCut: true });
}
