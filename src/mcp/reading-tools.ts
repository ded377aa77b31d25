import { basename } from "node:path";
import { Type } from "@sinclair/typebox";
import { PERSONAL } from "../accounts/space.ts";
import type { Recall } from "../capture/recall.ts";
import { ALL_PROJECTS } from "../memories/http/requests.ts";
import type { SearchMode } from "../memories/ranking/question.ts";
import type { Memories } from "../memories/rules/memories.ts";
import type { SearchRequest } from "../memories/rules/search.ts";
import { showHidden } from "../text/plain-text.ts";
import {
  describeMemory,
  type FittedMemories,
  fitMemories,
  LIST_LIMITS,
  SEARCH_LIMITS,
  wholeMemory,
} from "./memory-text.ts";
import { defineTool, type Session, type Tool } from "./tool.ts";
import { fields, filterFields, filterOf, pageFields } from "./tool-inputs.ts";

type Found = Awaited<ReturnType<Memories["search"]>>;

/** What all tools that only read have in common. The protocol's other hints follow from this one. */
export const READING = { scope: "memories:read", annotations: { readOnlyHint: true } } as const;

const NOTHING_KNOWN = "Nothing is known about that.";

/** The tools that search, list and show memories. */
export function createReadingTools(memories: Memories): Tool[] {
  return [
    defineTool({
      name: "search_memories",
      title: "Search memories",
      description:
        "Recall what is known, by meaning, before answering, saving or deleting. Ask in natural language.",
      ...READING,
      input: Type.Object({ query: fields.query, ...filterFields, ...pageFields }),
      space: `Only this one, or "${PERSONAL}"`,
      async run({ query, limit = 10, max_tokens, ...filter }, session) {
        const request = { query, limit, filter: filterOf(filter, session), known: true };
        const found = await memories.search(session.principal, request);
        const fitted = fitMemories(found.memories, SEARCH_LIMITS, max_tokens);
        const text =
          found.memories.length === 0
            ? await nothingKnown(memories, session, request)
            : noteOnTime(found) + describeMemories(fitted);
        const note = noteOnMode(found.mode);
        return { text: note ? `${note}\n\n${text}` : text };
      },
    }),

    defineTool({
      name: "list_memories",
      title: "List memories",
      description:
        "Memories by time, newest first. With session_id, also what was said in that session.",
      ...READING,
      input: Type.Object({
        ...filterFields,
        ...pageFields,
        cursor: Type.Optional(Type.String({ maxLength: 200 })),
      }),
      space: `Of this one; default "${PERSONAL}"`,
      async run({ limit = 20, max_tokens, cursor, ...rest }, session) {
        // Hundreds of captured turns would hide the memories that were saved on purpose.
        const isCaptured = rest.session_id === undefined ? { isCaptured: false } : {};
        const filter = { ...filterOf(rest, session), ...isCaptured };
        const list = (count: number) =>
          memories.list(session.principal, { filter, limit: count, cursor });
        const page = await list(limit);
        const fitted = fitMemories(page.memories, LIST_LIMITS, max_tokens);
        const shown = fitted.shown.length;
        // The next page begins with the first memory that did not fit, so that none is skipped.
        const next =
          fitted.omitted > 0 && shown > 0 ? (await list(shown)).nextCursor : page.nextCursor;
        const more = next === null ? "" : `\n\nThere are more: cursor ${next}`;
        const text =
          page.memories.length === 0 ? "There are no memories here." : describeMemories(fitted);
        return { text: text + more };
      },
    }),

    defineTool({
      name: "get_memory",
      title: "Get a memory",
      description: "Memory in full, such as one that was cut.",
      ...READING,
      input: Type.Object({ id: fields.id }),
      async run({ id }, { principal }) {
        const memory = await memories.get(principal, id);
        const entry = describeMemory(wholeMemory(memory));
        const hasMetadata = Object.keys(memory.metadata).length > 0;
        return {
          text: hasMetadata
            ? `${entry}\nmetadata: ${showHidden(JSON.stringify(memory.metadata))}`
            : entry,
        };
      },
    }),
  ];
}

/** Says that nothing is known, and how much is in other projects, if the conversation may look there. */
async function nothingKnown(
  memories: Pick<Memories, "countElsewhere">,
  { principal }: Session,
  request: SearchRequest,
): Promise<string> {
  if (principal.bound !== null || !request.filter.projects) return NOTHING_KNOWN;
  const count = await memories.countElsewhere(principal, request);
  if (count === 0) return NOTHING_KNOWN;
  return `Nothing is known about that in this project. ${count} in other projects: search with project "${ALL_PROJECTS}".`;
}

/** A note if the query names a time from which no result is; empty otherwise. */
function noteOnTime({ memories, period }: Found): string {
  if (period === null) return "";
  const times = memories.map(({ created_at }) => Date.parse(created_at));
  const isAny = times.some((time) => time >= period.from && time < period.to);
  return isAny ? "" : "Nothing is from that date.\n\n";
}

/** A note for the model when a search compared words only; empty otherwise. */
export function noteOnMode(mode: SearchMode): string {
  return mode === "keyword"
    ? "Searched by words only, because the embedding model is still loading. Search again in a moment."
    : "";
}

/** Memories as one text, with notes about what did not fit. */
export function describeMemories({ shown, omitted }: FittedMemories): string {
  const notes = [
    omitted > 0 && `${omitted} more did not fit: raise max_tokens or narrow the query.`,
    shown.some(({ isCut }) => isCut) && "Contents with … are cut: get_memory shows all.",
  ].filter((note) => typeof note === "string");
  const parts = shown.map(describeMemory);
  if (notes.length > 0) parts.push(notes.join(" "));
  return parts.join("\n\n");
}

/** Characters of an answer: about 1,500 tokens. */
const BUDGET = 6_000;

/**
 * The tool that an agent without hooks calls first. It replaces a search for the task, a search for
 * the user's preferences, and a list of the newest memories.
 */
export function createRecallTool(recall: Recall): Tool {
  return defineTool({
    name: "recall_context",
    title: "Recall context",
    description:
      "Recall what is known about the task, the project and the user's preferences. Call first in a conversation.",
    ...READING,
    input: Type.Object({
      task: Type.Optional({ ...fields.query, description: "What the user wants" }),
    }),
    async run({ task = null }, { principal, project }) {
      const text = await recall.text(principal, {
        session: null,
        project,
        name: basename(project ?? "") || null,
        prompt: task,
        isFresh: true,
        isAsked: true,
        budget: BUDGET,
      });
      return { text: text || NOTHING_KNOWN };
    },
  });
}
