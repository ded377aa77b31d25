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

/** What a form was sent with. */
export function readEntries(form: URLSearchParams): Entries {
  const read = (name: keyof Entries) => form.get(name) ?? "";
  return {
    content: unixLines(read("content")),
    tags: read("tags"),
    agent_id: read("agent_id").trim(),
    session_id: read("session_id").trim(),
    importance: read("importance").trim(),
    metadata: read("metadata"),
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

/** @throws AppError `validation_failed` */
export function changesOf(entries: Entries, present: Memory): MemoryChanges {
  const { content, ...others } = fieldsOf(entries);
  // Browsers write the ends of lines in their own way: that alone is no change.
  const isSame = unixLines(present.content) === content;
  return checkChanges({
    ...others,
    ...(!isSame && { content }),
    agent_id: entries.agent_id || null,
    session_id: entries.session_id || null,
  });
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

function unixLines(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n");
}
