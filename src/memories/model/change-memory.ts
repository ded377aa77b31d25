import { createId } from "../../db/id.ts";
import type { ContentEmbedding } from "../../embedding/embedder.ts";
import { invalidField } from "../../errors.ts";
import { parseInstant } from "../../text/input-kinds.ts";
import { applyTable, type FieldTable } from "./field-table.ts";
import type { MemoryChanges, MemorySource, NewMemory } from "./memory.ts";
import { type MemoryRow, type StoredMemory, UNSET } from "./rows.ts";

/** The fields of a memory in a request; null clears one. */
type Given = {
  readonly [Field in keyof NewMemory]?:
    | NewMemory[Field]
    | MemoryChanges[Field & keyof MemoryChanges];
};

/** How each field of a request is stored. */
const STORED: FieldTable<Given, null, Partial<MemoryRow>> = {
  content: (content) => ({ content }),
  tags: (tags) => ({ tags: normaliseTags(tags) }),
  agent_id: (agentId) => ({ agentId }),
  session_id: (sessionId) => ({ sessionId }),
  project: (project) => ({ project }),
  importance: (importance) => ({ importance }),
  pinned: (pinned) => ({ pinned }),
  supersedes: (supersedes) => ({ supersedes }),
  metadata: (metadata) => ({ metadata: JSON.stringify(metadata) }),
  expires_at: (instant) => ({ expiresAt: toTime(instant) }),
};

/** The fields of a request as they are stored, without those that are not given. */
export function storedFields(given: Given): Partial<MemoryRow> {
  return Object.assign({}, ...applyTable(STORED, given, null));
}

/** A new memory, created at `now`. */
export function newMemory(
  input: NewMemory,
  embedding: ContentEmbedding,
  source: MemorySource | null,
  now: number,
): StoredMemory {
  return {
    id: createId("mem", now),
    content: input.content,
    ...UNSET,
    ...storedFields(input),
    source,
    createdAt: now,
    updatedAt: now,
    ...embedding,
  };
}

/**
 * A memory with some fields changed.
 * @param embedding of the new content
 */
export function changeMemory(
  current: MemoryRow,
  changes: MemoryChanges,
  embedding: ContentEmbedding,
  source: MemorySource | null,
  now: number,
): StoredMemory {
  const { content = current.content } = changes;
  return {
    ...current,
    ...storedFields(changes),
    // The source is of the content: a client that changes only a tag has not written it.
    source: content === current.content ? current.source : source,
    // After the clock was set back, `updatedAt` must not decrease.
    updatedAt: Math.max(now, current.updatedAt),
    ...embedding,
  };
}

/** Milliseconds since 1970. */
function toTime(instant: string | null | undefined): number | null {
  return instant ? parseInstant(instant) : null;
}

/** @throws AppError `validation_failed` for a time that has passed */
export function checkExpiry(instant: string | null | undefined, now: number, path: string): void {
  const time = toTime(instant);
  if (time !== null && time <= now) throw invalidField(path, "must be in the future");
}

/** Tags as they are saved: trimmed, without duplicates, in the given order. */
export function normaliseTags(values: readonly string[]): string[] {
  return [...new Set(values.map((value) => value.trim()))];
}
