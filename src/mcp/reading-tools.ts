import { Type } from "@sinclair/typebox";
import type { Memories } from "../memories/memories.ts";
import type { SearchMode } from "../memories/ranking/mode.ts";
import { type Fitted, fitMemories, PAGE_LIMITS, SEARCH_LIMITS } from "./fit-memories.ts";
import { describeMemory, wholeMemory } from "./memory-text.ts";
import { defineTool, type Tool } from "./tool.ts";
import { fields, filterFields, filterOf, pageFields } from "./tool-inputs.ts";

const strict = { additionalProperties: false };
/** That reading destroys nothing and may be repeated goes without saying. */
export const READS = { readOnlyHint: true };

/** What is said where a search finds nothing. */
export const NOTHING_KNOWN = "Nothing is known about that.";

/** The tools that search, list and show. */
export function createReadingTools(memories: Memories): Tool[] {
  const scope = "memories:read";
  return [
    defineTool({
      name: "search_memories",
      title: "Search memories",
      description:
        "Find what is known, by meaning: before answering, saving or deleting. Ask in natural language.",
      scope,
      annotations: READS,
      input: Type.Object({ query: fields.query, ...filterFields, ...pageFields }, strict),
      async run({ query, limit = 10, max_tokens, ...filter }, session) {
        const { memories: found, mode } = await memories.search(session.principal, {
          query,
          limit,
          filter: filterOf(filter, session),
          minScore: 0,
          mode: "hybrid",
          known: true,
        });
        const fitted = fitMemories(found, max_tokens ? { maxTokens: max_tokens } : SEARCH_LIMITS);
        const text = found.length === 0 ? NOTHING_KNOWN : describeMemories(fitted);
        const note = noteOnMode(mode);
        return { text: note ? `${note}\n\n${text}` : text };
      },
    }),

    defineTool({
      name: "list_memories",
      title: "List memories",
      description:
        "Browse what was saved, newest first; with session_id, also what was said there.",
      scope,
      annotations: READS,
      input: Type.Object(
        { ...filterFields, ...pageFields, cursor: Type.Optional(Type.String({ maxLength: 200 })) },
        strict,
      ),
      async run({ limit = 20, max_tokens, cursor, ...rest }, session) {
        // Hundreds of turns of conversations would hide what somebody chose to save.
        const isCaptured = rest.session_id === undefined ? { isCaptured: false } : {};
        const filter = { ...filterOf(rest, session), ...isCaptured };
        const list = (count: number) =>
          memories.list(session.principal, { filter, limit: count, cursor });
        const page = await list(limit);
        const fitted = fitMemories(
          page.memories,
          max_tokens ? { maxTokens: max_tokens } : PAGE_LIMITS,
        );
        const shown = fitted.entries.length;
        // What did not fit comes with the next page, so that nothing is passed over.
        const next =
          fitted.leftOut > 0 && shown > 0 ? (await list(shown)).nextCursor : page.nextCursor;
        const more = next === null ? "" : `\n\nThere are more: cursor ${next}`;
        const text =
          page.memories.length === 0 ? "There are no memories here." : describeMemories(fitted);
        return { text: text + more };
      },
    }),

    defineTool({
      name: "get_memory",
      title: "Get a memory",
      description: "Read one memory in full, such as one that was cut.",
      scope,
      annotations: READS,
      input: Type.Object({ id: fields.id }, strict),
      async run({ id }, { principal }) {
        const memory = await memories.get(principal, id);
        const entry = describeMemory(wholeMemory(memory));
        const hasMetadata = Object.keys(memory.metadata).length > 0;
        return {
          text: hasMetadata ? `${entry}\nmetadata: ${JSON.stringify(memory.metadata)}` : entry,
        };
      },
    }),
  ];
}

/** What to say of a search that went by words alone; empty for others. */
export function noteOnMode(mode: SearchMode): string {
  return mode === "keyword"
    ? "Searched by words alone, as the model that knows meanings is still being loaded: search again in a moment."
    : "";
}

/** Entries as one text, and what was done to make them fit. */
export function describeMemories({ entries, leftOut: missing }: Fitted): string {
  const notes = [
    missing > 0 && `${missing} more did not fit: raise max_tokens or narrow the query.`,
    entries.some(({ isCut }) => isCut) && "Contents with … are cut: get_memory shows all.",
  ].filter((note) => typeof note === "string");
  return [...entries.map(describeMemory), ...(notes.length > 0 ? [notes.join(" ")] : [])].join(
    "\n\n",
  );
}
