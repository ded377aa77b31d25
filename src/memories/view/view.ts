import type { Filter, Position } from "../filter.ts";
import { first } from "../indexes/first.ts";
import { createVectorIndex } from "../indexes/vectors.ts";
import { type Corpus, createWordIndex } from "../indexes/words.ts";
import type { Candidate, MemoryRow, StoredMemory } from "../rows.ts";
import { createColumns } from "./columns.ts";

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
   * @throws RangeError when there is no memory left; then the view is of no more use
   */
  put(memory: StoredMemory): void;
  remove(id: string): void;
  get(id: string): MemoryRow | null;
  /** All memories, in no order. */
  rows(): IterableIterator<MemoryRow>;
  /** Ids, newest first (equals by the larger id), after a position of that order. */
  list(filter: Filter, after: Position | null, limit?: number): string[];
  /** Ids of all that a filter lets pass, in no order. */
  select(filter: Filter): string[];
  /**
   * Memories that a search has to consider: those of the nearest passages and those whose words
   * match best, each once, with both scores. In no order.
   */
  candidates(question: ViewQuestion): Candidate[];
  /** Memories of sessions, at most `limit`, with the cosine of their nearest passage. */
  ofSessions(
    sessions: readonly string[],
    filter: Filter,
    vector: Float32Array | null,
    limit: number,
  ): Candidate[];
  /** Gives its memory back. It must not be used any more. */
  close(): void;
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

/** @param dimension of the vectors */
export function createView(dimension: number): View {
  const columns = createColumns();
  const vectors = createVectorIndex(dimension);
  const words = createWordIndex();

  const remove = (id: string) => {
    const slot = columns.slotOf(id);
    if (slot === undefined) return;
    vectors.remove(slot);
    words.remove(slot, columns.content(slot));
    columns.remove(slot);
  };

  const isNewer = (a: number, b: number) =>
    columns.createdAt(b) - columns.createdAt(a) || (columns.id(a) < columns.id(b) ? 1 : -1);

  const isAfter = ({ createdAt, id }: Position, slot: number) => {
    const time = columns.createdAt(slot);
    return time < createdAt || (time === createdAt && columns.id(slot) < id);
  };

  const isInFilter = (filter: Filter) => {
    const accepts = columns.accepts(filter);
    return (slot: number) => columns.has(slot) && (accepts === null || accepts(slot));
  };

  /** Candidates in slots, with how well their words match. */
  const candidatesOf = (slots: ReadonlyMap<number, number>, vector: Float32Array | null) => {
    const products = vector && vectors.products(vector, [...slots.keys()]);
    return [...slots].map(
      ([slot, bm25], at): Candidate => ({
        memory: columns.row(slot),
        cosine: products?.[at] ?? null,
        bm25,
      }),
    );
  };

  return {
    get size() {
      return columns.size;
    },
    get bytes() {
      return columns.bytes + vectors.bytes + words.bytes;
    },

    put({ vectors: passages, ...memory }) {
      remove(memory.id);
      const slot = columns.add(memory);
      vectors.put(slot, passages);
      words.put(slot, memory.content);
    },

    remove,

    get(id) {
      const slot = columns.slotOf(id);
      return slot === undefined ? null : columns.row(slot);
    },

    *rows() {
      for (let slot = 0; slot < columns.end; slot++) if (columns.has(slot)) yield columns.row(slot);
    },

    list(filter, after, limit) {
      const accepts = isInFilter(filter);
      const isListed = (slot: number) => accepts(slot) && (after === null || isAfter(after, slot));
      return first(columns.end, isListed, isNewer, limit).map(columns.id);
    },

    select(filter) {
      const accepts = isInFilter(filter);
      const ids: string[] = [];
      for (let slot = 0; slot < columns.end; slot++) if (accepts(slot)) ids.push(columns.id(slot));
      return ids;
    },

    candidates({ vector, words: question, filter, limit, least, corpus }) {
      const accepts = columns.accepts(filter);
      const near = vector ? vectors.nearest(vector, { count: limit, least, accepts }) : [];
      const found = new Map<number, number>();
      for (const slot of near) found.set(slot, 0);
      if (question !== null) {
        const matching = words.matching(question, { count: limit, accepts, corpus });
        for (const [slot, bm25] of matching) found.set(slot, bm25);
      }
      return candidatesOf(found, vector);
    },

    ofSessions(sessions, filter, vector, limit) {
      const accepts = isInFilter(filter);
      const found = new Map<number, number>();
      for (const session of new Set(sessions)) {
        for (const slot of columns.ofSession(session)) {
          if (found.size >= limit) return candidatesOf(found, vector);
          if (accepts(slot)) found.set(slot, 0);
        }
      }
      return candidatesOf(found, vector);
    },

    close: vectors.close,
  };
}
