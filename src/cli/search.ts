import { projectOfFolder } from "../capture/project.ts";
import type { Config } from "../config.ts";
import { describeMemory, excerptAround, wholeMemory } from "../mcp/memory-text.ts";
import type { FoundMemory } from "../memories/found-memory.ts";
import { openApi, type Target } from "./api.ts";
import { CommandError, type Environment, USAGE } from "./failure.ts";
import { inputText } from "./input-text.ts";
import { printable } from "./printable.ts";
import { print, say } from "./terminal.ts";

/** What `ctxd search` is given beside the words. */
export interface SearchOptions extends Target {
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

/** `ctxd search` */
export async function search(
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
