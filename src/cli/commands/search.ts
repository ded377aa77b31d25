import type { Command } from "commander";
import { projectOfFolder } from "../../capture/project.ts";
import type { Config } from "../../config/config.ts";
import { describeMemory, excerptAround, wholeMemory } from "../../mcp/memory-text.ts";
import type { FoundMemory } from "../../memories/model/found-memory.ts";
import { Project } from "../../memories/model/memory.ts";
import { type Context, type Environment, examples, PROJECT_NOTE } from "../context.ts";
import { inputText } from "../input.ts";
import { collectTags, nameParser, parseLimit, parseMoment, targetOptions } from "../options.ts";
import { type Api, openApi, type Target } from "../server/api.ts";
import { print, printable, printJson, say, usageError } from "../terminal.ts";

interface SearchOptions extends Target {
  /** Default: the project of the folder. */
  project?: string;
  allProjects?: boolean;
  tag?: readonly string[];
  limit?: number;
  /** Whether to show results below the floor too. */
  guesses?: boolean;
  /** Whether to show superseded memories too. */
  history?: boolean;
  asOf?: string;
  json?: boolean;
}

/** Characters shown of a long memory, around the matched passage. */
const MAX_SHOWN_LENGTH = 600;

export function define(program: Command, { configureExisting, env }: Context): void {
  program
    .command("search")
    .argument("[words...]", "a question or some words; - or no words reads standard input")
    .summary("find memories by meaning")
    .description(
      "Finds memories by their meaning and prints them, the best first. Prints nothing if no memory answers the question. In a git repository it searches the memories of that project and those of no project.",
    )
    .option("--project <name>", "memories of this project, and of no project", nameParser(Project))
    .option("--all-projects", "memories of all projects")
    .option(
      "--tag <tag>",
      "only memories with this tag; repeat it for memories with any of several tags",
      collectTags,
    )
    .option("--limit <number>", "the largest number of results (10)", parseLimit)
    .option("--guesses", "also weak matches that probably do not answer the question")
    .option("--history", "also memories that were superseded by newer ones")
    .option(
      "--as-of <date>",
      "what was known then: 2026-12-31 (the end of that day in UTC)",
      parseMoment,
    )
    .option("--json", "print the API's answer as JSON")
    .addOption(targetOptions.user())
    .addOption(targetOptions.space())
    .addOption(targetOptions.url())
    .addHelpText("after", `\n${PROJECT_NOTE}`)
    .addHelpText(
      "after",
      examples(
        "ctxd search which food makes Sam ill",
        "ctxd search --all-projects --limit 3 how do we deploy",
        "ctxd search --as-of 2026-03-03 how do we deploy",
        "ctxd search --json staging server | jq '.memories[].content'",
      ),
    )
    .action((words: string[], options: SearchOptions) =>
      search(configureExisting(options), words, options, env),
    );
}

async function search(config: Config, words: string[], options: SearchOptions, env: Environment) {
  if (options.project !== undefined && options.allProjects) {
    throw usageError("Use --project or --all-projects, not both.");
  }
  const query = await inputText(
    words,
    "There is nothing to search for: give a question, as in ctxd search what does Sam like.",
    options,
  );
  using api = await openApi(config, env, options);
  const parameters = await parametersOf(query, options);
  const response = await api.request(`/api/memories/search?${parameters}`);
  const { memories } = (await response.json()) as { memories: FoundMemory[] };
  if (response.headers.get("ctxd-search-mode") === "keyword") {
    say("Searched by words only: the model that understands meanings is still loading.");
  }
  if (options.json) return await printJson({ memories });
  if (memories.length > 0) return await print(printable(memories.map(describe).join("\n\n")));
  const count = parameters.has("project") ? await countElsewhere(api, parameters) : 0;
  const nothing = `Nothing ${options.asOf === undefined ? "is" : "was"} known about that`;
  say(
    count === 0
      ? `${nothing}.`
      : `${nothing} in the project ${parameters.get("project")}. ${count} in other projects: add --all-projects.`,
  );
}

/** How many memories of other projects answer the question. */
async function countElsewhere(api: Api, parameters: URLSearchParams): Promise<number> {
  const everywhere = new URLSearchParams(parameters);
  everywhere.delete("project");
  everywhere.set("known", "true");
  const path = `/api/memories/search?${everywhere}`;
  const { memories } = await api.json<{ memories: FoundMemory[] }>(path);
  return memories.length;
}

async function parametersOf(query: string, options: SearchOptions): Promise<URLSearchParams> {
  const project =
    options.project ?? (options.allProjects ? null : await projectOfFolder(process.cwd()));
  return new URLSearchParams({
    q: query,
    known: String(!options.guesses),
    ...(project !== null && { project }),
    ...(options.tag && { tags: options.tag.join(",") }),
    ...(options.limit !== undefined && { limit: String(options.limit) }),
    ...(options.history && { include_superseded: "true" }),
    ...(options.asOf !== undefined && { as_of: options.asOf }),
  });
}

/** Formats a memory: a line of facts, then its text, or the matched part of a long text. */
function describe(memory: FoundMemory): string {
  const { content, matched } = memory;
  if (content.length <= MAX_SHOWN_LENGTH) return describeMemory(wholeMemory(memory));
  const part = excerptAround(content, matched, MAX_SHOWN_LENGTH);
  return describeMemory({ memory, content: part, isCut: true });
}
