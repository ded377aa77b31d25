import type { Filter, PageStart, Position } from "../filter.ts";
import { firstInOrder } from "../indexes/first-in-order.ts";
import { createStateIndex, named } from "../indexes/token-states.ts";
import { createVectorIndex } from "../indexes/vectors.ts";
import { createWordIndex } from "../indexes/words.ts";
import type { Candidate, MemoryRow } from "../rows.ts";
import { createColumns } from "./columns.ts";
import type { SessionQuestion, View } from "./view.ts";

/** Rows of short memories that are kept as they were made, most of those that one search shares with the next. */
const MOST_ROWS = 4_000;
const SHORT = 2_000;
const NO_MATCHES = new Float32Array(0);

/**
 * Memories of a view with states: they take as much as all the rest, and of a million there would be
 * no room for other accounts.
 */
export const MOST_WITH_STATES = 200_000;

/**
 * @param dimension of the vectors
 * @param mostWithStates memories beyond which it keeps no states
 */
export function createView(dimension: number, mostWithStates = MOST_WITH_STATES): View {
  const columns = createColumns();
  const vectors = createVectorIndex(dimension);
  const words = createWordIndex();
  let states = mostWithStates > 0 ? createStateIndex() : null;
  /** By slot. */
  const rows = new Map<number, MemoryRow>();

  const rowOf = (slot: number): MemoryRow => {
    const known = rows.get(slot);
    if (known) return known;
    const row = columns.row(slot);
    if (rows.size >= MOST_ROWS) rows.clear();
    if (row.content.length <= SHORT) rows.set(slot, row);
    return row;
  };

  const dropStates = () => {
    states?.close();
    states = null;
  };

  const remove = (id: string) => {
    const slot = columns.slotOf(id);
    if (slot === undefined) return;
    vectors.remove(slot);
    states?.remove(slot);
    words.remove(slot, columns.content(slot));
    columns.remove(slot);
    rows.delete(slot);
  };

  const isNewer = (a: number, b: number) =>
    columns.createdAt(b) - columns.createdAt(a) || (columns.id(a) < columns.id(b) ? 1 : -1);

  const isOlder = ({ createdAt, id }: Position, slot: number) => {
    const time = columns.createdAt(slot);
    return time < createdAt || (time === createdAt && columns.id(slot) < id);
  };

  const isIn = (from: PageStart, slot: number) =>
    from.isBackward ? !isOlder(from, slot) && columns.id(slot) !== from.id : isOlder(from, slot);

  const isInFilter = (filter: Filter) => {
    const accepts = columns.accepts(filter);
    return (slot: number) => columns.has(slot) && (accepts === null || accepts(slot));
  };

  const candidatesOf = (
    slots: readonly number[],
    { vector, terms }: Pick<SessionQuestion, "vector" | "terms">,
  ) => {
    const products = vector && vectors.products(vector, slots);
    const matches = words.matches(terms, slots);
    return slots.map(
      (slot, at): Candidate => ({
        memory: rowOf(slot),
        cosine: products?.[at]?.product ?? null,
        passage: products?.[at]?.nth ?? 0,
        matches: matches[at] ?? NO_MATCHES,
      }),
    );
  };

  return {
    get size() {
      return columns.size;
    },
    get bytes() {
      return columns.bytes + vectors.bytes + words.bytes + (states?.bytes ?? 0);
    },

    put({ vectors: passages, states: own, ...memory }) {
      remove(memory.id);
      const slot = columns.add(memory);
      vectors.put(slot, passages);
      words.put(slot, memory.content);
      if (columns.size > mostWithStates) dropStates();
      else states?.put(slot, own);
    },

    remove,

    get(id) {
      const slot = columns.slotOf(id);
      return slot === undefined ? null : columns.row(slot);
    },

    *rows() {
      for (let slot = 0; slot < columns.end; slot++) if (columns.has(slot)) yield columns.row(slot);
    },

    list(filter, from, limit) {
      const accepts = isInFilter(filter);
      const isListed = (slot: number) => accepts(slot) && (from === null || isIn(from, slot));
      if (!from?.isBackward)
        return firstInOrder(columns.end, isListed, isNewer, limit).map(columns.id);
      const isBefore = (a: number, b: number) => isNewer(b, a);
      return firstInOrder(columns.end, isListed, isBefore, limit).map(columns.id).reverse();
    },

    count(filter) {
      const accepts = isInFilter(filter);
      let count = 0;
      for (let slot = 0; slot < columns.end; slot++) if (accepts(slot)) count++;
      return count;
    },

    select(filter) {
      const accepts = isInFilter(filter);
      const ids: string[] = [];
      for (let slot = 0; slot < columns.end; slot++) if (accepts(slot)) ids.push(columns.id(slot));
      return ids;
    },

    withText: (content) => columns.withText(content).map(columns.row),
    expiring: columns.expiring,

    candidates({ vector, words: question, filter, limit, least, corpus }) {
      const accepts = columns.accepts(filter);
      const found = vector
        ? vectors.nearest(vector, { count: limit, least, accepts })
        : new Set<number>();
      const among = corpus === undefined ? columns.among(filter) : undefined;
      const terms = question === null ? [] : words.terms(question, corpus, among);
      for (const slot of words.matching(terms, { count: limit, accepts })) found.add(slot);
      const candidates = candidatesOf([...found], { vector, terms });
      return { candidates, terms, ...(among && { memories: among.texts }) };
    },

    ofSessions(sessions, { filter, ...asked }, limit) {
      const accepts = isInFilter(filter);
      const found: number[] = [];
      for (const session of new Set(sessions)) {
        for (const slot of columns.ofSession(session)) {
          if (found.length >= limit) return candidatesOf(found, asked);
          if (accepts(slot)) found.push(slot);
        }
      }
      return candidatesOf(found, asked);
    },

    vectorsOf(ids) {
      const found = new Map<string, Float32Array>();
      for (const id of ids) {
        const slot = columns.slotOf(id);
        const vector = slot === undefined ? null : vectors.first(slot);
        if (vector) found.set(id, vector);
      }
      return found;
    },

    interaction(ids, asked, weights) {
      if (!states) return null;
      const slots = ids.map(columns.slotOf);
      return named(ids, states.interaction(asked.numbers, weights, slots));
    },

    close() {
      vectors.close();
      dropStates();
      columns.close();
      rows.clear();
    },
  };
}
