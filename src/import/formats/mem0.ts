import { readEntries, readObjects } from "../files/json-document.ts";
import { isObject, objectsOf } from "../files/json-objects.ts";
import type { Format, Found, SourceMemory } from "./format.ts";

/**
 * The result of mem0's `get_all` (`{"results": [{"id", "memory", "created_at", …}]}`,
 * https://docs.mem0.ai/api-reference/memory/get-memory), also with the names of its TypeScript client
 * (`createdAt`), and its entries as a list or one per line, as OpenMemory exports them.
 */
export const mem0: Format = {
  name: "an export of mem0",
  origin: "mem0",
  recognises: (head) => /^\s*[[{]/.test(head) && /"memory"\s*:\s*"/.test(head),
  read: (source) =>
    objectsOf(source.head).some(({ memory }) => typeof memory === "string")
      ? readObjects(source, readMemory)
      : readEntries(source, readMemory),
};

/** Reads an object with the text and other fields that many programs use. */
export function* readMemory(found: unknown, at: string): Iterable<Found> {
  const entry = isObject(found) ? inSnakeCase(found) : {};
  const text = entry.memory ?? entry.content ?? entry.text;
  if (typeof text !== "string") {
    yield { at, problem: "has no memory" };
    return;
  }
  const { user_id, app_id, actor_id, role, categories } = entry;
  const memory: SourceMemory = {
    content: text,
    tags: categories,
    agent: entry.agent_id,
    session: entry.run_id,
    metadata: { ...(isObject(entry.metadata) && entry.metadata), user_id, app_id, actor_id, role },
    createdAt: entry.created_at,
    updatedAt: entry.updated_at,
    ...(typeof entry.id === "string" && { key: entry.id }),
  };
  yield { at, memory };
}

/** The same object with names in snake case. */
function inSnakeCase(entry: Record<string, unknown>): Record<string, unknown> {
  const rename = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(entry).map(([name, value]) => [rename(name), value]));
}
