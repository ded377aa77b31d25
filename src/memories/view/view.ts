import type { TokenStates } from "../../embedding/embedder.ts";
import type { Filter, PageStart } from "../filter.ts";
import type { Corpus, Term } from "../indexes/words.ts";
import type { Candidate, Expiring, Found, MemoryRow, StoredMemory } from "../rows.ts";

/**
 * What searches read: all memories of one table in memory, by their ids. It follows every commit
 * and knows nothing of files, so a flush changes nothing in it. All calls answer at once.
 */
export interface View {
  /** How many memories it has. */
  readonly size: number;
  /** Bytes of memory that it takes, about. */
  readonly bytes: number;
  /**
   * Adds a memory or replaces the one with its id. One of 30,000 characters takes some milliseconds.
   * @throws RangeError when there is no memory left; then the view can only be closed
   */
  put(memory: StoredMemory): void;
  remove(id: string): void;
  get(id: string): MemoryRow | null;
  /** All memories, in no order. */
  rows(): IterableIterator<MemoryRow>;
  /** Ids, newest first (equals by the larger id), from a place of that order on. */
  list(filter: Filter, from: PageStart | null, limit?: number): string[];
  /** How many a filter lets pass. */
  count(filter: Filter): number;
  /** Ids of all that a filter lets pass, in no order. */
  select(filter: Filter): string[];
  /** Memories with the same text; white space around it does not count. */
  withText(content: string): MemoryRow[];
  /** Memories that expire, the first to do so first. */
  expiring(limit: number): Expiring[];
  /**
   * Memories that a search has to consider: those of the nearest passages and those whose words
   * match best, each once, in no order.
   */
  candidates(question: ViewQuestion): Found;
  /** Memories of sessions, at most `limit`. */
  ofSessions(sessions: readonly string[], asked: SessionQuestion, limit: number): Candidate[];
  /** The vectors of the first passages, by the ids of memories. */
  vectorsOf(ids: readonly string[]): Map<string, Float32Array>;
  /** As that of a table; null where it keeps no states. */
  interaction(
    ids: readonly string[],
    states: TokenStates,
    weights: readonly number[],
  ): Map<string, number> | null;
  /** Gives its memory back. It must not be used any more. */
  close(): void;
}

/** What is asked about the memories of sessions, as `candidates` has found them. */
export interface SessionQuestion {
  filter: Filter;
  vector: Float32Array | null;
  terms: readonly Term[];
}

export interface ViewQuestion {
  /** `null` where only words are asked for. */
  vector: Float32Array | null;
  /** `null` where only the meaning is asked for. */
  words: string | null;
  filter: Filter;
  /** Passages that the meaning brings, and memories that the words bring, at the most. */
  limit: number;
  /** Different memories that the meaning brings at the least, if there are so many. */
  least: number;
  /** What rareness and length of words are measured by, where it is not this view itself. */
  corpus?: Corpus;
}
