import { isDeepStrictEqual } from "node:util";
import { createIdFrom } from "../../../db/id.ts";
import type { ContentEmbedding } from "../../../embedding/embedder.ts";
import { parseInstant } from "../../../text/input-kinds.ts";
import { storedFields } from "../../model/change-memory.ts";
import { type ImportedMemory, LIMITS, type MemorySource } from "../../model/memory.ts";
import { type SessionOrder, type StoredMemory, UNSET } from "../../model/rows.ts";

/** The result of a line; see `ImportReport`. */
export type LineResult = "created" | "updated" | "unchanged" | "kept";

/** The memory that a line describes. */
export interface LineMemory
  extends Omit<StoredMemory, keyof ContentEmbedding | "createdAt" | "updatedAt"> {
  line: number;
  /** Milliseconds since 1970; null when the line has none. */
  createdAt: number | null;
  updatedAt: number | null;
  now: number;
}

/**
 * The memory that a line describes.
 * @param number of the line
 * @param project of the memory
 * @param now milliseconds since 1970
 */
export function toLineMemory(
  number: number,
  memory: ImportedMemory,
  { project, source, now }: { project: string | null; source: MemorySource; now: number },
): LineMemory {
  const { content, agent_id: agentId = null, session_id: sessionId = null } = memory;
  const createdAt = memory.created_at === undefined ? null : parseInstant(memory.created_at);
  const updatedAt = memory.updated_at === undefined ? null : parseInstant(memory.updated_at);
  // The project is left out when there is none: such lines keep the ids of earlier versions.
  const identity = [content, createdAt, agentId, sessionId, ...(project === null ? [] : [project])];
  const id = memory.id ?? createIdFrom("mem", JSON.stringify(identity));
  return {
    line: number,
    id,
    content,
    ...UNSET,
    ...storedFields(memory),
    project,
    supersedes: otherThan(id, memory.supersedes),
    supersededBy: otherThan(id, memory.superseded_by),
    source,
    createdAt,
    updatedAt,
    now,
  };
}

/** A link to another memory; null for one to the memory itself. */
function otherThan(id: string, link: string | null | undefined): string | null {
  return link === undefined || link === id ? null : link;
}

/** Gives a turn of a session a time after the turn before it. Lines with an id keep their times. */
export function withSessionTime(
  wanted: LineMemory,
  { id }: ImportedMemory,
  inOrder: SessionOrder,
): LineMemory {
  const { sessionId, createdAt } = wanted;
  if (id !== undefined || sessionId === null || createdAt === null) return wanted;
  return { ...wanted, createdAt: inOrder(sessionId, createdAt) };
}

/** A memory that exists, or that an earlier line of the batch creates. */
export type ExistingMemory = Omit<StoredMemory, keyof ContentEmbedding>;

/** The result of a line, compared with the memory that has its id. */
export function resultOf(wanted: LineMemory, known: ExistingMemory | null | undefined): LineResult {
  if (!known) return "created";
  if ((wanted.updatedAt ?? 0) > known.updatedAt) return "updated";
  return isSame(wanted, known) ? "unchanged" : "kept";
}

/** Whether nothing changes, apart from times, the importing credential, and what supersedes the memory. */
function isSame(wanted: LineMemory, known: ExistingMemory): boolean {
  const { createdAt, updatedAt, source, supersededBy } = known;
  const { line: _, now: __, ...fields } = wanted;
  return isDeepStrictEqual(
    { ...known, ...fields, createdAt, updatedAt, source, supersededBy },
    known,
  );
}

/**
 * The memory that a line creates.
 * @param place of the line in its batch: lines without times are ordered by it
 */
export function toStored(wanted: LineMemory, place: number): ExistingMemory {
  const { line: _, now, createdAt, updatedAt, ...memory } = wanted;
  const created = createdAt ?? updatedAt ?? now - LIMITS.batch + place;
  return { ...memory, createdAt: created, updatedAt: Math.max(created, updatedAt ?? created) };
}
