import { Type } from "@sinclair/typebox";
import type { Memories } from "../memories/memories.ts";
import type { SearchMode } from "../memories/ranking/mode.ts";
import { type Fitted, fitEntries, fitFound } from "./budget.ts";
import { describeEntry, PublishedEntry, toEntry } from "./entry.ts";
import { defineTool, type Tool } from "./tool.ts";
import { fields, filterFields, filterOf, MAX_TOKENS, pageFields } from "./tool-inputs.ts";

const strict = { additionalProperties: false };
/** That reading may be repeated goes without saying. */
const annotations = { readOnlyHint: true, destructiveHint: false };

/** The tools that search, list and show. */
export function createReadingTools(memories: Memories): Tool[] {
  const scope = "memories:read";
  return [
    defineTool({
      name: "search_memories",
      title: "Search memories",
      description:
        "Find what is known, by meaning: before answering, at the start of a task, before saving or deleting. Ask in natural language.",
      scope,
      annotations,
      input: Type.Object({ query: fields.query, ...filterFields, ...pageFields }, strict),
      output: Type.Object({ memories: Type.Array(PublishedEntry) }),
      async run({ query, limit = 10, max_tokens = MAX_TOKENS, ...filter }, session) {
        const { memories: found, mode } = await memories.search(session.principal, {
          query,
          limit,
          filter: filterOf(filter, session),
          minScore: 0,
          mode: "hybrid",
          known: true,
        });
        const fitted = fitFound(found, max_tokens);
        const text = found.length === 0 ? "Nothing is known about that." : describeEntries(fitted);
        const note = noteOnMode(mode);
        return {
          text: note ? `${note}\n\n${text}` : text,
          data: { memories: fitted.entries, ...leftOutOf(fitted), ...(note && { mode }) },
        };
      },
    }),

    defineTool({
      name: "list_memories",
      title: "List memories",
      description: "Browse memories, newest first, for an overview. To find something, search.",
      scope,
      annotations,
      input: Type.Object(
        { ...filterFields, ...pageFields, cursor: Type.Optional(Type.String({ maxLength: 200 })) },
        strict,
      ),
      output: Type.Object({
        memories: Type.Array(PublishedEntry),
        next_cursor: Type.Optional(Type.String()),
      }),
      async run({ limit = 20, max_tokens = MAX_TOKENS, cursor, ...rest }, session) {
        const filter = filterOf(rest, session);
        const list = (count: number) =>
          memories.list(session.principal, { filter, limit: count, cursor });
        const page = await list(limit);
        const fitted = fitEntries(page.memories.map(toEntry), max_tokens);
        const shown = fitted.entries.length;
        // What did not fit comes with the next page, so that nothing is passed over.
        const next =
          fitted.leftOut > 0 && shown > 0 ? (await list(shown)).nextCursor : page.nextCursor;
        const more = next === null ? "" : `\n\nThere are more: cursor ${next}`;
        const text =
          page.memories.length === 0 ? "There are no memories here." : describeEntries(fitted);
        return {
          text: text + more,
          data: { memories: fitted.entries, ...(next !== null && { next_cursor: next }) },
        };
      },
    }),

    defineTool({
      name: "get_memory",
      title: "Get a memory",
      description: "Read one memory in full, such as one that was cut.",
      scope,
      annotations,
      input: Type.Object({ id: fields.id }, strict),
      output: PublishedEntry,
      async run({ id }, { principal }) {
        const memory = await memories.get(principal, id);
        const entry = toEntry(memory);
        const hasMetadata = Object.keys(memory.metadata).length > 0;
        return {
          text: hasMetadata
            ? `${describeEntry(entry)}\nmetadata: ${JSON.stringify(memory.metadata)}`
            : describeEntry(entry),
          data: hasMetadata ? { ...entry, metadata: memory.metadata } : entry,
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
export function describeEntries({ entries, leftOut: missing }: Fitted): string {
  const notes = [
    missing > 0 && `${missing} more did not fit: raise max_tokens or narrow the query.`,
    entries.some(({ cut }) => cut) && "Contents with … are cut: get_memory shows all.",
  ].filter((note) => typeof note === "string");
  return [...entries.map(describeEntry), ...(notes.length > 0 ? [notes.join(" ")] : [])].join(
    "\n\n",
  );
}

function leftOutOf({ leftOut: missing }: Fitted) {
  return missing > 0 && { left_out: missing };
}
