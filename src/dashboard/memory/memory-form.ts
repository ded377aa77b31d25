import { AppError } from "../../errors.ts";
import { createCheck } from "../../http/requests/validation.ts";
import { type Memory, MemoryChanges, NewMemory } from "../../memories/model/memory.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import { parsed } from "../../text/parse-json.ts";

/** Maximum bytes of the form of a memory. An encoded character may take twelve bytes. */
export const MAX_FORM = 512 << 10;

const checkNew = createCheck(NewMemory);
const checkChanges = createCheck(MemoryChanges);

/** The importance of a memory if nobody has set one. */
export const DEFAULT_IMPORTANCE = 0.5;

/** Length of a time to the minute. */
const MINUTE = "2026-11-21T07:00".length;

/** The values of the form of a memory before anybody has entered one. */
export const NOTHING_ENTERED = {
  content: "",
  tags: "",
  agent_id: "",
  session_id: "",
  project: "",
  importance: String(DEFAULT_IMPORTANCE),
  /** `1` for a memory that never fades. */
  pinned: "",
  /** To the minute, in UTC, as browsers write it: `2026-11-21T07:00`. */
  expires_at: "",
  /** Only for a new memory: the id of the memory that it supersedes. */
  supersedes: "",
  metadata: "",
};

/** The values of the form fields of a memory. */
export type Entries = Record<keyof typeof NOTHING_ENTERED, string>;

const MULTI_LINE: ReadonlySet<string> = new Set(["content", "metadata"]);

/** The form values of a saved memory. */
export function entriesOf(memory: Memory): Entries {
  const { content, tags, agent_id, session_id, importance, metadata } = memory;
  return {
    ...NOTHING_ENTERED,
    content,
    tags: tags.join(", "),
    agent_id: agent_id ?? "",
    session_id: session_id ?? "",
    project: memory.project ?? "",
    importance: String(importance),
    pinned: memory.pinned ? "1" : "",
    expires_at: memory.expires_at?.slice(0, MINUTE) ?? "",
    metadata: Object.keys(metadata).length > 0 ? JSON.stringify(metadata, null, 2) : "",
  };
}

/** The initial form values of a memory that supersedes another one. */
export function entriesAfter(memory: Memory): Entries {
  return {
    ...entriesOf(memory),
    agent_id: "",
    session_id: "",
    expires_at: "",
    supersedes: memory.id,
  };
}

/** Reads the values of a sent form. Browsers send line breaks as CRLF; single-line fields get none. */
export function readEntries(form: URLSearchParams): Entries {
  const entries: Entries = { ...NOTHING_ENTERED };
  for (const name of Object.keys(entries) as (keyof Entries)[]) {
    const text = form.get(name) ?? "";
    entries[name] = MULTI_LINE.has(name)
      ? text.replaceAll(/\r\n?/g, "\n")
      : text.replaceAll(/[\r\n]/g, "");
  }
  return { ...entries, importance: entries.importance.trim() };
}

/** @throws AppError `validation_failed` */
export function newMemoryOf(entries: Entries): NewMemory {
  const { agent_id, session_id, supersedes } = entries;
  return checkNew({
    ...fieldsOf(entries),
    ...(supersedes !== "" && { supersedes }),
    ...(agent_id !== "" && { agent_id }),
    ...(session_id !== "" && { session_id }),
  });
}

/**
 * The fields that a person has changed; `null` for none. All other fields stay exactly as they are, even if a
 * browser can't show their value.
 * @throws AppError `validation_failed`
 */
export function changesOf(entries: Entries, present: Memory): MemoryChanges | null {
  const shown: Readonly<Record<string, string>> = readEntries(
    new URLSearchParams(entriesOf(present)),
  );
  const entered: Readonly<Record<string, string>> = entries;
  const { agent_id, session_id } = entries;
  const all = {
    ...fieldsOf(entries),
    agent_id: agent_id || null,
    session_id: session_id || null,
  };
  const changes = Object.entries(all).filter(([name]) => entered[name] !== shown[name]);
  return changes.length > 0 ? checkChanges(Object.fromEntries(changes)) : null;
}

function splitTags(text: string): string[] {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}

function fieldsOf({ content, tags, project, importance, pinned, expires_at, metadata }: Entries) {
  return {
    content,
    tags: splitTags(tags),
    project: project || null,
    pinned: pinned !== "",
    expires_at: expires_at === "" ? null : momentOf(expires_at),
    // An empty text would be read as 0.
    importance: importance === "" ? Number.NaN : Number(importance),
    metadata: metadataOf(metadata),
  };
}

/** Converts a browser's local time to ISO 8601 in UTC. An invalid time stays invalid; the check refuses it. */
function momentOf(local: string): string {
  return local.length === MINUTE ? `${local}:00Z` : `${local}Z`;
}

function metadataOf(text: string): unknown {
  const metadata = text.trim() === "" ? {} : parsed(text);
  if (metadata !== undefined) return metadata;
  throw new AppError("validation_failed", "Metadata must be a JSON object.");
}

/** Warnings to add to a notice if a saved text contains secrets; empty if it contains none. */
export function secretNotice({ secrets }: Pick<Memories, "secrets">, texts: MemoryChanges): string {
  const kinds = secrets.warnings(texts)?.warnings.map(({ message }) => message) ?? [];
  return kinds.map((kind) => ` ${kind}`).join("");
}
