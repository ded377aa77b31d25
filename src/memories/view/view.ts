import type { TokenStates } from "../../embedding/embedder.ts";
import { byName, createStateIndex } from "../indexes/token-states.ts";
import { createVectorIndex, type VectorIndex } from "../indexes/vectors.ts";
import { type Corpus, createWordIndex, type Term, type WordIndex } from "../indexes/words.ts";
import type { Filter } from "../model/filter.ts";
import type { Candidate, MemoryRow, SearchCandidates, StoredMemory } from "../model/rows.ts";
import { type Columns, createColumns } from "./columns.ts";
import { createListing } from "./listing.ts";

/** A question about the memories of sessions. The terms come from `candidates`. */
export interface SessionQuestion {
  filter: Filter;
  vector: Float32Array | null;
  terms: readonly Term[];
}

/** The memories whose words match a question, as long as the view does not change. */
interface WordMatches {
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

const NO_MATCHES = new Float32Array(0);

/**
 * The candidates of searches in a view.
 * @param changes how often the view has changed
 */
function createCandidates(
  columns: Columns,
  vectors: VectorIndex,
  words: WordIndex,
  changes: () => number,
) {
  const candidatesOf = (
    slots: readonly number[],
    { vector, terms }: Pick<SessionQuestion, "vector" | "terms">,
  ) => {
    const products = vector && vectors.products(vector, slots);
    const matches = words.matches(terms, slots);
    return slots.map(
      (slot, at): Candidate => ({
        memory: columns.cachedRow(slot),
        cosine: products?.[at]?.product ?? null,
        passage: products?.[at]?.nth ?? 0,
        matches: matches[at] ?? NO_MATCHES,
      }),
    );
  };

  /** The part of `candidates` that needs no vector. */
  const matchWords = ({
    words: question,
    filter,
    limit,
    corpus,
  }: Omit<ViewQuestion, "vector">): WordMatches => {
    const accepts = columns.accepts(filter);
    const among = corpus === undefined ? columns.among(filter) : undefined;
    const terms = question === null ? [] : words.terms(question, corpus, among);
    const slots = words.matching(terms, { count: limit, accepts });
    // Caches the rows.
    for (const slot of slots) columns.cachedRow(slot);
    return { terms, slots, memories: among?.texts, changes: changes() };
  };

  return {
    matchWords,

    /**
     * The candidates of a search: memories with the nearest passages, and memories whose words match best, each
     * once, in no order.
     * @param matched of the same question, so that words need not be compared again
     */
    candidates({ vector, ...question }: ViewQuestion, matched?: WordMatches): SearchCandidates {
      const isCurrent = matched?.changes === changes();
      const { terms, slots, memories } = isCurrent ? matched : matchWords(question);
      const { filter, limit, least } = question;
      const found = vector
        ? vectors.nearest(vector, { count: limit, least, accepts: columns.accepts(filter) })
        : new Set<number>();
      for (const slot of slots) found.add(slot);
      const candidates = candidatesOf([...found], { vector, terms });
      return { candidates, terms, ...(memories !== undefined && { memories }) };
    },

    /**
     * The other memories of a filter that have the nearest first passages or later ones, each once, the nearest first.
     * @param limit of the passages
     * @param least the cosine above which a memory counts
     */
    near(
      id: string,
      { filter, limit, least }: { filter: Filter; limit: number; least: number },
    ): { memory: MemoryRow; cosine: number }[] {
      const own = columns.slotOf(id);
      const vector = own === undefined ? null : vectors.first(own);
      if (own === undefined || !vector) return [];
      const accepts = columns.accepts(filter);
      const isOther = (slot: number) => slot !== own && (accepts === null || accepts(slot));
      const slots = [...vectors.above(vector, { count: limit, least, accepts: isOther })];
      const products = vectors.products(vector, slots);
      return slots.map((slot, at) => ({
        memory: columns.row(slot),
        cosine: products[at]?.product ?? 0,
      }));
    },

    /** Memories of sessions, at most `limit`. */
    ofSessions(
      sessions: readonly string[],
      { filter, ...question }: SessionQuestion,
      limit: number,
    ): Candidate[] {
      const accepts = columns.accepts(filter);
      const found: number[] = [];
      for (const session of new Set(sessions)) {
        found.push(...columns.ofSession(session, accepts, limit - found.length));
      }
      return candidatesOf(found, question);
    },
  };
}

/**
 * Views of more memories keep no token states. The states take as much memory as everything else, so the states of a
 * million memories would leave no room for other accounts.
 */
export const MAX_WITH_STATES = 200_000;

export type View = ReturnType<typeof createView>;

/**
 * All memories of one table in memory, for searches. The view follows every commit and reads no files, so a flush
 * does not change it. All calls are synchronous.
 * @param dimension of the vectors
 * @param mostWithStates with more memories, the view keeps no token states
 */
export function createView(dimension: number, mostWithStates = MAX_WITH_STATES) {
  const columns = createColumns();
  const vectors = createVectorIndex(dimension);
  const words = createWordIndex();
  let changes = 0;
  let states = mostWithStates > 0 ? createStateIndex() : null;

  const dropStates = () => {
    states?.close();
    states = null;
  };

  /** @param keepsWords whether the slot gets the same text again at once */
  const removeFrom = (slot: number, keepsWords: boolean): void => {
    changes++;
    vectors.remove(slot);
    states?.remove(slot);
    if (!keepsWords) words.remove(slot, columns.content(slot));
    columns.remove(slot);
  };

  return {
    /** How many memories the view has. */
    get size() {
      return columns.size;
    },
    /** Bytes of memory that the view takes, about. */
    get bytes() {
      return columns.bytes + vectors.bytes + words.bytes + (states?.bytes ?? 0);
    },
    ...createListing(columns),
    ...createCandidates(columns, vectors, words, () => changes),

    /**
     * Adds a memory, or replaces the one with its id. A text of 30,000 characters takes some milliseconds.
     * @throws RangeError when there is no memory left; then the view must be closed
     */
    put({ vectors: passages, states: tokenStates, ...memory }: StoredMemory): void {
      const former = columns.slotOf(memory.id);
      // Most changes leave the text as it is. Its words would take most of the time.
      const keepsWords = former !== undefined && columns.content(former) === memory.content;
      if (former !== undefined) removeFrom(former, keepsWords);
      changes++;
      const slot = columns.add(memory);
      vectors.put(slot, passages);
      if (!keepsWords) words.put(slot, memory.content);
      if (columns.size > mostWithStates) dropStates();
      else states?.put(slot, tokenStates);
    },

    remove(id: string): void {
      const slot = columns.slotOf(id);
      if (slot !== undefined) removeFrom(slot, false);
    },

    get(id: string): MemoryRow | null {
      const slot = columns.slotOf(id);
      return slot === undefined ? null : columns.row(slot);
    },

    /** All memories, in no order. */
    *rows(): Generator<MemoryRow, void> {
      for (let slot = 0; slot < columns.end; slot++) if (columns.has(slot)) yield columns.row(slot);
    },

    /** Memories that were saved with the same text, apart from white space around it; at most a thousand of them. */
    withText: (content: string): MemoryRow[] => columns.withText(content).map(columns.row),
    expiring: columns.expiring,

    /** The vectors of the first passages, by the ids of memories. */
    vectorsOf(ids: readonly string[]): Map<string, Float32Array> {
      const found = new Map<string, Float32Array>();
      for (const id of ids) {
        const slot = columns.slotOf(id);
        const vector = slot === undefined ? null : vectors.first(slot);
        if (vector) found.set(id, vector);
      }
      return found;
    },

    /** Like `interaction` of a table; `null` when the view keeps no token states. */
    interaction(
      ids: readonly string[],
      question: TokenStates,
      weights: readonly number[],
    ): Map<string, number> | null {
      if (!states) return null;
      const slots = ids.map(columns.slotOf);
      return byName(ids, states.interaction(question.numbers, weights, slots));
    },

    /** Frees its memory. A closed view must not be used. */
    close(): void {
      vectors.close();
      dropStates();
      columns.close();
    },
  };
}
