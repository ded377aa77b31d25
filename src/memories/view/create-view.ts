import { firstInOrder } from "../indexes/largest.ts";
import { byName, createStateIndex } from "../indexes/token-states.ts";
import { createVectorIndex, type VectorIndex } from "../indexes/vectors.ts";
import { createWordIndex, type WordIndex } from "../indexes/words.ts";
import type { Filter, PageStart } from "../model/filter.ts";
import type { Candidate } from "../model/rows.ts";
import { type Columns, createColumns } from "./columns.ts";
import type { SessionQuestion, View, WordMatches } from "./view.ts";

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
): Pick<View, "matchWords" | "candidates" | "ofSessions"> {
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

  const matchWords: View["matchWords"] = ({ words: question, filter, limit, corpus }) => {
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

    candidates({ vector, ...question }, matched?: WordMatches) {
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

    ofSessions(sessions, { filter, ...question }, limit) {
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
 * The ids of all memories that pass, newest first, and of equal age by the larger id. Sorting numbers and texts
 * without a function that compares two slots takes a tenth to a third of the time.
 */
function idsByAge(columns: Columns, passes: (slot: number) => boolean): string[] {
  const slots: number[] = [];
  for (let slot = 0; slot < columns.end; slot++) if (passes(slot)) slots.push(slot);
  const times = Float64Array.from(slots, columns.createdAt).sort();
  /** Of each place in `times` where a time begins: how many of its slots were found. */
  const counts = new Int32Array(times.length);
  const ordered = new Int32Array(times.length);
  for (const slot of slots) {
    const start = placeOf(columns.createdAt(slot), times);
    const count = counts[start] ?? 0;
    ordered[start + count] = slot;
    counts[start] = count + 1;
  }
  const ids: string[] = [];
  for (let end = ordered.length, start: number; end > 0; end = start) {
    start = end - 1;
    while (start > 0 && times[start - 1] === times[start]) start--;
    const equals: string[] = [];
    for (let at = start; at < end; at++) equals.push(columns.id(ordered[at] ?? 0));
    if (equals.length > 1) equals.sort().reverse();
    for (const id of equals) ids.push(id);
  }
  return ids;
}

/** The first place of a value in sorted numbers. */
function placeOf(value: number, sorted: Float64Array): number {
  let start = 0;
  for (let end = sorted.length; start < end; ) {
    const middle = (start + end) >> 1;
    if ((sorted[middle] ?? 0) < value) start = middle + 1;
    else end = middle;
  }
  return start;
}

/** The parts of a view that list and count memories by a filter. */
function createListing(columns: Columns): Pick<View, "list" | "count" | "select"> {
  /** Newest first; equals by the larger id. */
  const byAge = (a: number, b: number) =>
    columns.createdAt(b) - columns.createdAt(a) || (columns.id(a) < columns.id(b) ? 1 : -1);

  const isBehind = ({ createdAt, id }: PageStart, slot: number) => {
    const time = columns.createdAt(slot);
    return time < createdAt || (time === createdAt && columns.id(slot) < id);
  };

  const isOnPage = (from: PageStart, slot: number) =>
    from.isBackward ? !isBehind(from, slot) && columns.id(slot) !== from.id : isBehind(from, slot);

  const passing = (filter: Filter) => {
    const accepts = columns.accepts(filter);
    return (slot: number) => columns.has(slot) && (accepts === null || accepts(slot));
  };

  return {
    list(filter, from, limit) {
      const passes = passing(filter);
      if (from === null && limit === undefined) return idsByAge(columns, passes);
      const isListed = (slot: number) => passes(slot) && (from === null || isOnPage(from, slot));
      const order = from?.isBackward ? (a: number, b: number) => byAge(b, a) : byAge;
      const ids = firstInOrder(columns.end, isListed, order, limit).map(columns.id);
      return from?.isBackward ? ids.reverse() : ids;
    },

    count(filter) {
      const passes = passing(filter);
      let count = 0;
      for (let slot = 0; slot < columns.end; slot++) if (passes(slot)) count++;
      return count;
    },

    select(filter) {
      const passes = passing(filter);
      const ids: string[] = [];
      for (let slot = 0; slot < columns.end; slot++) if (passes(slot)) ids.push(columns.id(slot));
      return ids;
    },
  };
}

/**
 * Views of more memories keep no token states. The states take as much memory as everything else, so the states of a
 * million memories would leave no room for other accounts.
 */
export const MAX_WITH_STATES = 200_000;

/**
 * @param dimension of the vectors
 * @param mostWithStates with more memories, the view keeps no token states
 */
export function createView(dimension: number, mostWithStates = MAX_WITH_STATES): View {
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
  const removeFrom = (slot: number, keepsWords: boolean) => {
    changes++;
    vectors.remove(slot);
    states?.remove(slot);
    if (!keepsWords) words.remove(slot, columns.content(slot));
    columns.remove(slot);
  };

  return {
    get size() {
      return columns.size;
    },
    get bytes() {
      return columns.bytes + vectors.bytes + words.bytes + (states?.bytes ?? 0);
    },
    ...createListing(columns),
    ...createCandidates(columns, vectors, words, () => changes),

    put({ vectors: passages, states: tokenStates, ...memory }) {
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

    remove(id) {
      const slot = columns.slotOf(id);
      if (slot !== undefined) removeFrom(slot, false);
    },

    get(id) {
      const slot = columns.slotOf(id);
      return slot === undefined ? null : columns.row(slot);
    },

    *rows() {
      for (let slot = 0; slot < columns.end; slot++) if (columns.has(slot)) yield columns.row(slot);
    },

    withText: (content) => columns.withText(content).map(columns.row),
    expiring: columns.expiring,

    vectorsOf(ids) {
      const found = new Map<string, Float32Array>();
      for (const id of ids) {
        const slot = columns.slotOf(id);
        const vector = slot === undefined ? null : vectors.first(slot);
        if (vector) found.set(id, vector);
      }
      return found;
    },

    interaction(ids, question, weights) {
      if (!states) return null;
      const slots = ids.map(columns.slotOf);
      return byName(ids, states.interaction(question.numbers, weights, slots));
    },

    close() {
      vectors.close();
      dropStates();
      columns.close();
    },
  };
}
