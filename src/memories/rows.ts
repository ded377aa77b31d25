import { type CompactVector, compact } from "./compact-vector.ts";
import type { Memory } from "./memory.ts";

/** A memory as it is kept: the public fields, with times as numbers, and its vectors. */
export interface StoredMemory {
  id: string;
  content: string;
  tags: string[];
  agentId: string | null;
  sessionId: string | null;
  importance: number;
  /** JSON text, so that what comes out is what went in. */
  metadata: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  updatedAt: number;
  /** One for each passage of the content, at least one. */
  vectors: Float32Array[];
}

/** A memory without its vectors, and how many there are. */
export type MemoryRow = Omit<StoredMemory, "vectors"> & { passages: number };

/** The public form of a stored memory. */
export function toMemory(stored: StoredMemory | MemoryRow): Memory {
  return {
    id: stored.id,
    content: stored.content,
    tags: stored.tags,
    agent_id: stored.agentId,
    session_id: stored.sessionId,
    importance: stored.importance,
    metadata: JSON.parse(stored.metadata),
    created_at: new Date(stored.createdAt).toISOString(),
    updated_at: new Date(stored.updatedAt).toISOString(),
  };
}

/** Ids of all rows of a memory: its own, then those of its further passages. */
export function rowIds(id: string, passages: number): string[] {
  return Array.from({ length: passages }, (_, passage) => rowIdOf(id, passage));
}

/** The id of a passage's row. */
export function rowIdOf(id: string, passage: number): string {
  return passage ? `${id}#${passage}` : id;
}

/** The memory that a row belongs to. */
export function memoryIdOf(rowId: string): string {
  const end = rowId.indexOf("#");
  return end < 0 ? rowId : rowId.slice(0, end);
}

/** What statistics read of a memory. */
export type MemoryFacts = Pick<
  StoredMemory,
  "tags" | "agentId" | "importance" | "createdAt" | "updatedAt"
>;

/** A row that a search looks at, whatever the search. */
export interface SearchRow {
  readonly rowId: string;
  /** The memory's. */
  readonly id: string;
  readonly sessionId: string | null;
  readonly importance: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The row's own vector, where it was asked for. */
  readonly vector: CompactVector | null;
  /** `null` for a further passage, which does not have the memory's text. */
  readonly memory: MemoryRow | null;
}

/** What one search found out about a row. */
export interface SearchScores {
  /** −1 to 1, of the row's vector and the query; `null` where it was not compared. */
  cosine: number | null;
  /** 0 and up; 0 where words were not compared. */
  readonly bm25: number;
}

/** A row with what ranking needs. */
export type Candidate = SearchRow & SearchScores;

/** The rows of a memory that was just written, as `decodeSearchRows` would read them. */
export function searchRowsOf({ vectors, ...memory }: StoredMemory): SearchRow[] {
  const { id, sessionId, importance, createdAt, updatedAt } = memory;
  const passages = vectors.length;
  return vectors.map((vector, passage) => ({
    ...{ rowId: rowIdOf(id, passage), id, sessionId, importance, createdAt, updatedAt },
    vector: compact(vector),
    memory: passage === 0 ? { ...memory, passages } : null,
  }));
}
