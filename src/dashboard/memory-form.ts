import { AppError } from "../errors.ts";
import { createCheck } from "../http/validation.ts";
import { type Memory, MemoryChanges, NewMemory } from "../memories/memory.ts";

const checkNew = createCheck(NewMemory);
const checkChanges = createCheck(MemoryChanges);

/** What the form of a memory is filled in with, field by field. */
export type Entries = Record<
  "content" | "tags" | "agent_id" | "session_id" | "importance" | "metadata",
  string
>;

export const NOTHING_ENTERED: Entries = {
  content: "",
  tags: "",
  agent_id: "",
  session_id: "",
  importance: "0.5",
  metadata: "",
};

/** What the form of a memory shows before anything is changed. */
export function entriesOf(memory: Memory): Entries {
  const { content, tags, agent_id, session_id, importance, metadata } = memory;
  return {
    content,
    tags: tags.join(", "),
    agent_id: agent_id ?? "",
    session_id: session_id ?? "",
    importance: String(importance),
    metadata: Object.keys(metadata).length > 0 ? JSON.stringify(metadata, null, 2) : "",
  };
}

/** What a form was sent with. Browsers write line breaks in their own way, and none in a field. */
export function readEntries(form: URLSearchParams): Entries {
  const lines = (name: keyof Entries) => (form.get(name) ?? "").replaceAll(/\r\n?/g, "\n");
  const line = (name: keyof Entries) => (form.get(name) ?? "").replaceAll(/[\r\n]/g, "");
  return {
    content: lines("content"),
    tags: line("tags"),
    agent_id: line("agent_id"),
    session_id: line("session_id"),
    importance: line("importance").trim(),
    metadata: lines("metadata"),
  };
}

/** @throws AppError `validation_failed` */
export function newMemoryOf(entries: Entries): NewMemory {
  const { agent_id, session_id, ...rest } = entries;
  return checkNew({
    ...fieldsOf(rest),
    ...(agent_id !== "" && { agent_id }),
    ...(session_id !== "" && { session_id }),
  });
}

/**
 * The fields that a person has changed; `null` for none. The others stay to the letter, also where
 * a browser can't show them as they are.
 * @throws AppError `validation_failed`
 */
export function changesOf(entries: Entries, present: Memory): MemoryChanges | null {
  const shown = readEntries(new URLSearchParams(entriesOf(present)));
  const isChanged = (name: keyof Entries) => entries[name] !== shown[name];
  const { content, tags, importance, metadata } = fieldsOf(entries);
  const changes = {
    ...(isChanged("content") && { content }),
    ...(isChanged("tags") && { tags }),
    ...(isChanged("agent_id") && { agent_id: entries.agent_id || null }),
    ...(isChanged("session_id") && { session_id: entries.session_id || null }),
    ...(isChanged("importance") && { importance }),
    ...(isChanged("metadata") && { metadata }),
  };
  return Object.keys(changes).length > 0 ? checkChanges(changes) : null;
}

/** Tags as they are entered: with commas between. */
export function splitTags(text: string): string[] {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}

function fieldsOf({
  content,
  tags,
  importance,
  metadata,
}: Omit<Entries, "agent_id" | "session_id">) {
  return {
    content,
    tags: splitTags(tags),
    // An empty text would be read as 0.
    importance: importance === "" ? Number.NaN : Number(importance),
    metadata: metadata.trim() === "" ? {} : parseMetadata(metadata),
  };
}

function parseMetadata(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError("validation_failed", "metadata must be a JSON object.", { cause });
  }
}
