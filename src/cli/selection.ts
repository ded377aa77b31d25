import type { Command } from "commander";
import { LIMITS, MEMORY_ID, type Memory, Project, SessionId } from "../memories/model/memory.ts";
import { firstLineOf, formatDate } from "../text/short-text.ts";
import { inputText } from "./input.ts";
import { collectTags, nameParser, parseMoment, targetOptions } from "./options.ts";
import type { Api, Target } from "./server/api.ts";
import { ask, CommandError, confirm, isInteractive, say, usageError } from "./terminal.ts";

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
    .addOption(targetOptions.space())
    .addOption(targetOptions.url());
}

/** Options that select memories without naming their ids. */
export interface SelectionOptions extends Target {
  project?: string;
  tag?: readonly string[];
  agent?: string;
  session?: string;
  source?: string;
  captured?: boolean;
  before?: string;
  /** Whether to skip the question. */
  yes?: boolean;
}

/** The memories that a command works on. */
type Selection =
  | { kind: "ids"; ids: readonly string[] }
  | { kind: "words"; words: string }
  /** A query of the API. */
  | { kind: "filter"; filter: URLSearchParams };

/** A page of memories, as the API answers. */
export interface MemoryPage {
  memories: Memory[];
  next_cursor: string | null;
}

/** Memories shown as a preview of a filter's matches, and as choices of a search. */
const MAX_SHOWN = 5;
const MAX_CHOICES = 10;

/**
 * Reads which memories a command works on: ids, `-` for ids from standard input, words, or a filter.
 * @param verb the command's verb for messages, such as `forget`
 * @throws CommandError for combinations that make no sense
 */
export async function readSelection(
  what: readonly string[],
  options: SelectionOptions,
  verb: string,
): Promise<Selection> {
  const filter = filterOf(options);
  if (what.length === 0 && filter.size === 0) {
    throw usageError(`Say what to ${verb}: ids, words, or an option such as --tag.`);
  }
  if (what.length > 0 && filter.size > 0) {
    throw usageError("Use ids, words, or options that select memories, not several of them.");
  }
  if (!options.yes && !isInteractive()) throw usageError("Without a terminal this needs --yes.");
  if (what.length === 0) return { kind: "filter", filter };
  const words =
    what[0] === "-" ? (await inputText(what, "There are no ids.", options)).split(/\s+/) : what;
  if (words.every((word) => MEMORY_ID.test(word))) return { kind: "ids", ids: [...new Set(words)] };
  if (!isInteractive()) {
    throw usageError(
      "To select memories by words, run this in a terminal, where you choose from what is found. In a script, give ids.",
    );
  }
  return { kind: "words", words: words.join(" ") };
}

export function filterOf(options: SelectionOptions): URLSearchParams {
  const { project, tag, agent, session, source, captured, before } = options;
  return new URLSearchParams({
    // Without memories of no project, which belong to all projects.
    ...(project !== undefined && { project, project_only: "true" }),
    ...(tag && { tags: tag.join(",") }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(session !== undefined && { session_id: session }),
    ...(source !== undefined && { source }),
    ...(captured && { captured: "true" }),
    ...(before !== undefined && { created_before: before }),
  });
}

/**
 * Shows the selected memories and asks for confirmation. For words it first asks which of the memories
 * found are meant.
 * @param question makes the question from the object of its sentence: `these 3 memories`, `it`
 * @returns the ids, or the filter
 * @throws CommandError when the user declines
 */
export async function confirmSelection(
  api: Api,
  selection: Selection,
  { yes = false, question }: { yes?: boolean; question: (what: string) => string },
): Promise<{ ids: readonly string[] } | { filter: URLSearchParams }> {
  if (selection.kind === "filter") {
    const { filter } = selection;
    if (!yes) await confirmMatching(api, filter, question);
    return { filter };
  }
  const ids = selection.kind === "ids" ? selection.ids : await choose(api, selection.words);
  // All are read before any is changed: one mistyped id must change none.
  const memories = await Promise.all(ids.map((id) => api.json<Memory>(`/api/memories/${id}`)));
  if (!yes) {
    for (const memory of memories) say(lineOf(memory));
    await requireConsent(question(ids.length === 1 ? "it" : "them"));
  }
  return { ids };
}

async function confirmMatching(
  api: Api,
  filter: URLSearchParams,
  question: (what: string) => string,
): Promise<void> {
  const query = new URLSearchParams({
    ...Object.fromEntries(filter),
    include_superseded: "true",
    limit: String(LIMITS.page),
  });
  const page = await api.json<MemoryPage>(`/api/memories?${query}`);
  const { length } = page.memories;
  if (length === 0) return;
  for (const memory of page.memories.slice(0, MAX_SHOWN)) say(lineOf(memory));
  if (length > MAX_SHOWN) say("…");
  const count = page.next_cursor === null ? length : `more than ${length}`;
  await requireConsent(question(count === 1 ? "this memory" : `these ${count} memories`));
}

/** Searches for words and asks which of the memories found are meant. */
async function choose(api: Api, words: string): Promise<string[]> {
  const query = new URLSearchParams({ q: words, limit: String(MAX_CHOICES) });
  const { memories } = await api.json<Pick<MemoryPage, "memories">>(
    `/api/memories/search?${query}`,
  );
  if (memories.length === 0) throw new CommandError("No memory matches.");
  for (const [index, memory] of memories.entries()) say(`${index + 1}. ${lineOf(memory)}`);
  const answer = await ask("Which? (numbers, such as 1 3; nothing for none) ");
  const chosen = answer.split(/[\s,]+/).filter((part) => part !== "");
  const ids = chosen.map((part) => memories[Number(part) - 1]?.id);
  if (chosen.length === 0) throw new CommandError("Nothing was changed.");
  if (ids.every((id) => id !== undefined)) return [...new Set(ids)];
  throw new CommandError("This is not one of the numbers: nothing was changed.");
}

async function requireConsent(question: string): Promise<void> {
  if (!(await confirm(question))) throw new CommandError("Nothing was changed.");
}

/** How many memories a command has changed. @param count null if the server's answer with it was lost */
export function describeCount(count: number | null): string {
  if (count === null) return "all of them; how many is unknown, because an answer was lost";
  return count === 1 ? "1 memory" : `${count} memories`;
}

function lineOf({ id, content, created_at }: Memory): string {
  return `${id} · ${formatDate(created_at)} · ${firstLineOf(content)}`;
}
