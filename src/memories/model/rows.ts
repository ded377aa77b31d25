import type { ContentEmbedding } from "../../embedding/embedder.ts";
import type { Term } from "../indexes/words.ts";
import type { Memory, MemorySource } from "./memory.ts";

/**
 * A memory as it is stored: the public fields with times as numbers, and the vectors and token states of
 * its content. Memories of early versions have neither `starts` nor `states`.
 */
export interface StoredMemory extends ContentEmbedding {
  id: string;
  content: string;
  tags: string[];
  agentId: string | null;
  sessionId: string | null;
  project: string | null;
  importance: number;
  pinned: boolean;
  /** Id of the memory that this one supersedes. */
  supersedes: string | null;
  /** Id of the memory that supersedes this one. */
  supersededBy: string | null;
  /** JSON text, so that clients get exactly what they sent. */
  metadata: string;
  /** The credential that wrote it; `null` for memories of early versions. */
  source: MemorySource | null;
  /** Milliseconds since 1970, as all times. */
  createdAt: number;
  updatedAt: number;
  expiresAt: number | null;
}

/** A memory without vectors and token states. */
export type MemoryRow = Omit<StoredMemory, "vectors" | "states">;

/** The fields of a memory that nobody has given, also in entries of the log that are older than a field. */
export const UNSET: Omit<MemoryRow, "id" | "content" | "createdAt" | "updatedAt" | "starts"> = {
  tags: [],
  agentId: null,
  sessionId: null,
  project: null,
  importance: 0.5,
  pinned: false,
  supersedes: null,
  supersededBy: null,
  metadata: "{}",
  source: null,
  expiresAt: null,
};

/** The fields that statistics read. */
export type MemoryFacts = Pick<
  StoredMemory,
  "tags" | "agentId" | "project" | "importance" | "pinned" | "createdAt" | "updatedAt"
>;

/** A memory that expires, with the time. */
export interface Expiring {
  id: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** A memory that a search considers, with its own match of the query. */
export interface Candidate {
  readonly memory: MemoryRow;
  /** Cosine of the query's vector and the nearest passage's, −1 to 1; `null` without a query's vector. */
  readonly cosine: number | null;
  /** Number of that passage; 0 when it is not known. */
  readonly passage: number;
  /**
   * BM25 weight of each word of the query, 0 if the memory lacks it; see `WordIndex`. Empty without words.
   */
  readonly matches: Float32Array;
}

/** The candidates of a search, and the words of its query. */
export interface SearchCandidates {
  readonly candidates: Candidate[];
  readonly terms: readonly Term[];
  /** How many memories were searched, if not all of the table. */
  readonly memories?: number;
}

/** A memory's vectors and token states. */
export function embeddingOf({ vectors, starts, states }: StoredMemory): ContentEmbedding {
  return { vectors, starts, states };
}

/** The public form of a stored memory. */
export function toMemory(stored: MemoryRow): Memory {
  const { expiresAt } = stored;
  return {
    id: stored.id,
    content: stored.content,
    tags: stored.tags,
    agent_id: stored.agentId,
    session_id: stored.sessionId,
    project: stored.project,
    importance: stored.importance,
    pinned: stored.pinned,
    supersedes: stored.supersedes,
    superseded_by: stored.supersededBy,
    metadata: JSON.parse(stored.metadata),
    source: stored.source,
    created_at: new Date(stored.createdAt).toISOString(),
    updated_at: new Date(stored.updatedAt).toISOString(),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}

/** The most sessions whose newest time is kept: turns of a session come together. */
const MAX_SESSIONS = 10_000;

/** The time of a turn, and the time that its memory gets. */
interface Times {
  original: number;
  adjusted: number;
}

/** @returns the time to save, in milliseconds since 1970 */
export type SessionOrder = (session: string, time: number) => number;

/**
 * Keeps the turns of a session in the order in which they come: turns with the same time get times a
 * millisecond apart, since lists and the ranking order turns by their times alone.
 */
export function createSessionOrder(): SessionOrder {
  const newest = new Map<string, Times>();
  return (session, time) => {
    const last = newest.get(session);
    // A turn that goes back in time does not follow the turn before it.
    const follows = last !== undefined && time >= last.original;
    const adjusted = follows ? Math.max(time, last.adjusted + 1) : time;
    // Deleted first: a map keeps the order of insertion.
    newest.delete(session);
    newest.set(session, { original: time, adjusted });
    if (newest.size > MAX_SESSIONS) newest.delete(newest.keys().next().value ?? "");
    return adjusted;
  };
}

/** Whether two texts are the same apart from white space around them. */
export function isSameText(a: string, b: string): boolean {
  return a === b || a.trim() === b.trim();
}
