import type { EmbeddingModel, TokenStates } from "../../embedding/embedder.ts";
import type { HeldBase } from "../base/base.ts";
import type { Outcome, Pending } from "../log/pending.ts";
import type { Filter, Order, PageStart } from "../model/filter.ts";
import type { Usage } from "../model/quota.ts";
import type {
  Candidate,
  Expiring,
  MemoryRow,
  SearchCandidates,
  StoredMemory,
} from "../model/rows.ts";
import type { LiveView } from "../view/live-view.ts";
import type { SessionQuestion, ViewQuestion } from "../view/view.ts";

/** How a table answers questions: from its view, or from its base and its pending changes. */
export interface TableReader {
  /** Memories by id, in no order; missing ones are left out. */
  find(ids: readonly string[]): Promise<MemoryRow[]>;
  /** Ids of memories, newest first by default, from a position on; all without a limit. */
  list(filter: Filter, from: PageStart | null, limit?: number, order?: Order): Promise<string[]>;
  /** The number of memories that match a filter. */
  count(filter: Filter): Promise<number>;
  /** Ids of memories that match a filter, in no order; all without a limit. */
  select(filter: Filter, limit?: number): Promise<string[]>;
  /** The memories that expire first, in that order. */
  expiring(limit: number): Promise<Expiring[]>;
  /** All memories, in batches. */
  rows(): AsyncGenerator<MemoryRow[]>;
  /**
   * Memories that were saved with the same text, apart from white space around it; of very many a part.
   * @param vector of the text's first passage
   */
  withText(content: string, vector: Float32Array | null): Promise<MemoryRow[]>;
  /** The candidates of a search; see `View`. */
  candidates(question: ViewQuestion): Promise<SearchCandidates>;
  /** Memories of sessions; of very long sessions a part. */
  ofSessions(sessions: readonly string[], asked: SessionQuestion): Promise<Candidate[]>;
}

/** A question whose vector may still be being computed. */
interface SearchQuestion extends Omit<ViewQuestion, "vector"> {
  vector: ViewQuestion["vector"] | Promise<ViewQuestion["vector"]>;
}

/**
 * The memories of one account with one model's vectors: a base, the log's changes since, and the view
 * of both. Reads may run at any time, writes one at a time.
 */
export interface MemoryTable extends TableReader {
  readonly name: string;
  /** The model of its vectors. */
  readonly model: EmbeddingModel;
  readonly usage: Usage;
  /** Grows with every commit. */
  readonly changes: number;
  /** Whether the table had no entry when it was opened. */
  readonly wasEmpty: boolean;
  /** Number of the last entry that the table has, and of the last one that all readers see. */
  readonly seq: number;
  readonly visibleSeq: number;
  /** The candidates of a search; see `View`. Words are compared while the vector is computed. */
  candidates(question: SearchQuestion): Promise<SearchCandidates>;
  /**
   * How well memories answer a question word by word, −1 to 1; see `StateIndex`. Leaves out memories
   * without token states, which are all of a table with more memories than a view keeps states of.
   * @param weights of the question's tokens, 0 and up
   */
  interaction(
    ids: readonly string[],
    states: TokenStates,
    weights: readonly number[],
  ): Promise<Map<string, number>>;
  /** The vectors of the memories' first passages, by id. */
  vectorsOf(ids: readonly string[]): Promise<Map<string, Float32Array>>;
  /** Memories by id, with their vectors. */
  load(ids: readonly string[]): Promise<StoredMemory[]>;
  encode(memories: readonly StoredMemory[]): Uint8Array;
  /** Adds an entry that the log has committed. */
  apply(seq: number, outcome: Outcome, usage: Usage): Promise<void>;
}

/** A table with the parts that upkeep works on. */
export interface KeptTable extends MemoryTable {
  readonly base: HeldBase;
  readonly pending: Pending;
  readonly view: LiveView;
  /** Sets the usage of a table whose log has not counted it. */
  recount(usage: Usage): void;
  /** Approximate bytes of memory of its view, or of the one that is being filled. */
  viewBytes(): number;
  /** Whether its view may be in memory. */
  fitsInMemory(): boolean;
}

/** Memory for the views of all tables. */
export interface ViewMemory {
  bytes: number;
  /** Closes unused views to make room for one of this size. @returns whether it fits then */
  make(bytes: number): boolean;
}
