import type { Client } from "../client.ts";
import { CtxdError } from "../error.ts";
import type { FoundMemory, Memory, NewMemory, SearchOptions } from "../types.ts";

/** How a model may use memories. */
export interface MemoryToolOptions {
  /** Offer only tools that read: nothing is saved, changed or deleted. */
  readOnly?: boolean | undefined;
  /** The agent of saved memories. Memories of other agents are found too. */
  agentId?: string | undefined;
  /** The conversation of saved memories. */
  sessionId?: string | undefined;
}

type Property =
  | { type: "string"; description: string }
  | { type: "number" | "integer"; minimum: number; maximum: number; description: string }
  | { type: "array"; items: { type: "string" }; description: string };

/** A JSON Schema. */
interface Parameters {
  type: "object";
  properties: { [name: string]: Property };
  required: string[];
  additionalProperties: false;
}

/** A tool, independent of a framework. */
export interface MemoryTool {
  name: string;
  description: string;
  parameters: Parameters;
  /**
   * @param input the arguments that the model gave
   * @throws CtxdError whose message explains the problem to the model
   */
  run(input: unknown, signal?: AbortSignal): Promise<Answer>;
}

/** The result of a tool for the model, as JSON. */
export type Answer = { [name: string]: string | number | boolean | string[] | Entry[] };

interface Entry {
  [name: string]: string | boolean | string[];
}

/** Longest content that a search shows whole. Of a longer one it shows the matched passage. */
const MAX_SHOWN = 2_000;

const id: Property = { type: "string", description: "Id of the memory, such as mem_0197f2…" };
const tags: Property = { type: "array", items: { type: "string" }, description: "Labels" };
const importance: Property = {
  type: "number",
  minimum: 0,
  maximum: 1,
  description: "0 to 1, default 0.5; higher fades slower",
};
const content: Property = {
  type: "string",
  description: "One fact, understandable on its own: names, dates, reasons",
};

/** The tools that read and write memories. They are the same for every framework. */
export function describeMemoryTools(client: Client, options: MemoryToolOptions = {}): MemoryTool[] {
  const { readOnly = false, agentId, sessionId } = options;
  const reading = [
    defineTool<{ query: string } & Pick<SearchOptions, "limit" | "tags">>({
      name: "search_memories",
      description:
        "Find what is known, by meaning, before answering, saving or deleting. Ask in natural language.",
      properties: {
        query: { type: "string", description: "A question or a subject" },
        limit: { type: "integer", minimum: 1, maximum: 100, description: "Default 10" },
        tags: { ...tags, description: "Only memories with one of these labels" },
      },
      required: ["query"],
      async run({ query, ...filter }, signal) {
        const found = await client.search(query, { ...filter, known: true, signal });
        if (found.length > 0) return { memories: found.map(toEntry) };
        return { memories: [], note: "Nothing is known about that." };
      },
    }),
    defineTool<{ id: string }>({
      name: "get_memory",
      description: "Read one memory in full, such as one that was cut.",
      properties: { id },
      required: ["id"],
      run: async ({ id }, signal) => ({ ...wholeMemory(await client.get(id, { signal })) }),
    }),
  ];
  if (readOnly) return reading;
  return [
    ...reading,
    defineTool<Pick<NewMemory, "content" | "tags" | "importance" | "supersedes">>({
      name: "save_memory",
      description:
        "Remember what will matter in later conversations: a preference, a decision and its reason, a fact about people or projects, a correction. Do so unasked. One fact per call, no secrets. If a known fact has changed, give its id in supersedes.",
      properties: {
        content,
        tags,
        importance,
        supersedes: { type: "string", description: "Id of the memory that was true before" },
      },
      required: ["content"],
      async run(memory, signal) {
        const origin = { agent_id: agentId, session_id: sessionId };
        const saved = await client.save({ ...origin, ...memory }, { signal });
        return { id: saved.id, saved: true };
      },
    }),
    defineTool<{ id: string } & Partial<Pick<NewMemory, "content" | "tags" | "importance">>>({
      name: "update_memory",
      description:
        "Correct a memory that was wrong or incomplete. For a fact that has changed, use save_memory with supersedes. Omitted fields stay.",
      properties: {
        id,
        content: { ...content, description: "The whole new text" },
        tags,
        importance,
      },
      required: ["id"],
      async run({ id, ...changes }, signal) {
        await client.update(id, changes, { signal });
        return { id, updated: true };
      },
    }),
    defineTool<{ id: string }>({
      name: "delete_memory",
      description:
        "Delete a memory permanently, when the user asks to. Search first for all that is meant.",
      properties: { id },
      required: ["id"],
      async run({ id }, signal) {
        await client.delete(id, { signal });
        return { id, deleted: true };
      },
    }),
  ];
}

/** Checks only the types of fields. The server checks the rest and describes problems in words. */
function defineTool<Input>(tool: {
  name: string;
  description: string;
  properties: Parameters["properties"];
  required: string[];
  run(input: Input, signal: AbortSignal | undefined): Promise<Answer>;
}): MemoryTool {
  const { name, description, properties, required } = tool;
  return {
    name,
    description,
    parameters: { type: "object", properties, required, additionalProperties: false },
    async run(input, signal) {
      const given = new Map<string, unknown>(Object.entries(input ?? {}));
      const fields: { [name: string]: unknown } = {};
      for (const [field, property] of Object.entries(properties)) {
        // Models pass null for fields that they omit.
        const value = given.get(field) ?? undefined;
        const isNeeded = required.includes(field);
        if (value === undefined ? isNeeded : !isOf(property, value)) {
          const problem = `${field} must be a JSON ${property.type}.`;
          throw new CtxdError("validation_failed", problem);
        }
        fields[field] = value;
      }
      return tool.run(fields as Input, signal);
    },
  };
}

function isOf({ type }: Property, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  return typeof value === (type === "string" ? "string" : "number");
}

function toEntry(memory: FoundMemory): Entry {
  const content = shortContentOf(memory);
  const isCut = content.length < memory.content.length;
  return { ...wholeMemory(memory), content, ...(isCut && { cut: true }) };
}

/** The content of a memory; of a long one, the matched passage. */
export function shortContentOf({ content, matched }: FoundMemory): string {
  if (content.length <= MAX_SHOWN) return content;
  return matched?.text ?? content.slice(0, MAX_SHOWN);
}

function wholeMemory({ id, content, tags, project, created_at }: Memory): Entry {
  return {
    id,
    content,
    created_at,
    ...(tags.length > 0 && { tags }),
    ...(project !== null && { project }),
  };
}
