import type { TokenStates } from "../../embedding/embedder.ts";
import type { Corpus, Term } from "../indexes/words.ts";
import type { Filter, PageStart } from "../model/filter.ts";
import type {
  Candidate,
  Expiring,
  MemoryRow,
  SearchCandidates,
  StoredMemory,
} from "../model/rows.ts";

/**
 * All memories of one table in memory, for searches. The view follows every commit and reads no files, so a flush
 * does not change it. All calls are synchronous.
 */
export interface View {
  /** How many memories the view has. */
  readonly size: number;
  /** Bytes of memory that the view takes, about. */
  readonly bytes: number;
  /**
   * Adds a memory, or replaces the one with its id. A text of 30,000 characters takes some milliseconds.
   * @throws RangeError when there is no memory left; then the view must be closed
   */
  put(memory: StoredMemory): void;
  remove(id: string): void;
  get(id: string): MemoryRow | null;
  /** All memories, in no order. */
  rows(): IterableIterator<MemoryRow>;
  /** Ids, newest first (equals by the larger id), from a place in that order. */
  list(filter: Filter, from: PageStart | null, limit?: number): string[];
  /** How many memories pass a filter. */
  count(filter: Filter): number;
  /** Ids of all memories that pass a filter, in no order. */
  select(filter: Filter): string[];
  /** Memories that were saved with the same text, apart from white space around it; at most a thousand of them. */
  withText(content: string): MemoryRow[];
  /** Memories that expire, the earliest first. */
  expiring(limit: number): Expiring[];
  /**
   * The candidates of a search: memories with the nearest passages, and memories whose words match best, each
   * once, in no order.
   * @param matched of the same question, so that words need not be compared again
   */
  candidates(question: ViewQuestion, matched?: WordMatches): SearchCandidates;
  /** The part of `candidates` that needs no vector. */
  matchWords(question: Omit<ViewQuestion, "vector">): WordMatches;
  /** Memories of sessions, at most `limit`. */
  ofSessions(sessions: readonly string[], asked: SessionQuestion, limit: number): Candidate[];
  /** The vectors of the first passages, by the ids of memories. */
  vectorsOf(ids: readonly string[]): Map<string, Float32Array>;
  /** Like `statesOf` of a table; `null` when the view keeps no token states. */
  statesOf(ids: readonly string[]): Map<string, Int8Array> | null;
  /** Like `interaction` of a table; `null` when the view keeps no token states. */
  interaction(
    ids: readonly string[],
    states: TokenStates,
    weights: readonly number[],
  ): Map<string, number> | null;
  /** Frees its memory. A closed view must not be used. */
  close(): void;
}

/** A question about the memories of sessions. The terms come from `candidates`. */
export interface SessionQuestion {
  filter: Filter;
  vector: Float32Array | null;
  terms: readonly Term[];
}

/** The memories whose words match a question, as long as the view does not change. */
export interface WordMatches {
  readonly terms: readonly Term[];
  readonly slots: readonly number[];
  readonly memories: number | undefined;
  /** How often the view had changed. */
  readonly changes: number;
}

export interface ViewQuestion {
  /** `null` for a search by words alone. */
  vector: Float32Array | null;
  /** `null` for a search by meaning alone. */
  words: string | null;
  filter: Filter;
  /** How many passages the meaning finds at most, and how many memories the words find at most. */
  limit: number;
  /** How many different memories the meaning finds at least, if there are enough. */
  least: number;
  /** The texts in which rareness and length of words are measured; by default those of the view. */
  corpus?: Corpus;
}
