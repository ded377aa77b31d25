import type { ContentEmbedding } from "../embedding/embedder.ts";
import type { Term } from "./indexes/words.ts";
import type { Memory, MemorySource } from "./memory.ts";

/**
 * A memory as it is kept: the public fields, with times as numbers, and what its content was embedded
 * as. What an earlier version wrote has neither `starts` nor `states`.
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
  /** The id of the memory whose place it takes. */
  supersedes: string | null;
  /** The id of the memory that took its place. */
  supersededBy: string | null;
  /** JSON text, so that what comes out is what went in. */
  metadata: string;
  /** What wrote it; `null` where that was not recorded yet. */
  source: MemorySource | null;
  /** Milliseconds since 1970, as all times. */
  createdAt: number;
  updatedAt: number;
  expiresAt: number | null;
}

/** A memory without vectors and states. */
export type MemoryRow = Omit<StoredMemory, "vectors" | "states">;

/** What statistics read of a memory. */
export type MemoryFacts = Pick<
  StoredMemory,
  "tags" | "agentId" | "project" | "importance" | "pinned" | "createdAt" | "updatedAt"
>;

/** A memory that expires, and when. */
export interface Expiring {
  id: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** A memory that a search considers, and how well it answers by itself. */
export interface Candidate {
  readonly memory: MemoryRow;
  /** −1 to 1, of the query's vector and the nearest passage's; `null` without a query's vector. */
  readonly cosine: number | null;
  /** Which of its passages is that one; 0 where that is unknown. */
  readonly passage: number;
  /** How much it has of each word of the query, 0 for none; see `WordIndex`. Empty without words. */
  readonly matches: Float32Array;
}

/** What a search considers, and the words that it goes by. */
export interface Found {
  readonly candidates: Candidate[];
  readonly terms: readonly Term[];
  /** How many memories it was looked for among, where that is not all. */
  readonly memories?: number;
}

/** What the content of a memory was embedded as. */
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
