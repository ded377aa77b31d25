import { createId } from "../../db/id.ts";
import type { ContentEmbedding } from "../../embedding/embedder.ts";
import { invalidField } from "../../errors.ts";
import { parseInstant } from "../../text/input-kinds.ts";
import { type MemoryChanges, type MemorySource, type NewMemory, normaliseTags } from "./memory.ts";
import type { MemoryRow, StoredMemory } from "./rows.ts";

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
    tags: normaliseTags(input.tags ?? []),
    agentId: input.agent_id ?? null,
    sessionId: input.session_id ?? null,
    project: input.project ?? null,
    importance: input.importance ?? 0.5,
    pinned: input.pinned ?? false,
    supersedes: input.supersedes ?? null,
    supersededBy: null,
    metadata: JSON.stringify(input.metadata ?? {}),
    source,
    createdAt: now,
    updatedAt: now,
    expiresAt: toTime(input.expires_at),
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
  const { content, tags, agent_id, session_id, project, importance, pinned, metadata } = changes;
  return {
    ...current,
    ...embedding,
    content: content ?? current.content,
    tags: tags ? normaliseTags(tags) : current.tags,
    agentId: agent_id === undefined ? current.agentId : agent_id,
    sessionId: session_id === undefined ? current.sessionId : session_id,
    project: project === undefined ? current.project : project,
    importance: importance ?? current.importance,
    pinned: pinned ?? current.pinned,
    metadata: metadata ? JSON.stringify(metadata) : current.metadata,
    // The source is of the content: a client that changes only a tag has not written it.
    source: content === undefined || content === current.content ? current.source : source,
    // After the clock was set back, `updatedAt` must not decrease.
    updatedAt: Math.max(now, current.updatedAt),
    expiresAt: changes.expires_at === undefined ? current.expiresAt : toTime(changes.expires_at),
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
