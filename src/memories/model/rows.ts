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
export interface Found {
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
