import { createStateIndex, named } from "../indexes/token-states.ts";
import { createVectorIndex } from "../indexes/vectors.ts";
import { createWordIndex } from "../indexes/words.ts";
import type { Candidate } from "../rows.ts";
import { createColumns } from "./columns.ts";
import { createListing } from "./listing.ts";
import type { SessionQuestion, View } from "./view.ts";

const NO_MATCHES = new Float32Array(0);

/**
 * Views of more memories keep no token states. The states take as much memory as everything else, so the states of a
 * million memories would leave no room for other accounts.
 */
export const MOST_WITH_STATES = 200_000;

/**
 * @param dimension of the vectors
 * @param mostWithStates with more memories, the view keeps no token states
 */
export function createView(dimension: number, mostWithStates = MOST_WITH_STATES): View {
  const columns = createColumns();
  const vectors = createVectorIndex(dimension);
  const words = createWordIndex();
  let states = mostWithStates > 0 ? createStateIndex() : null;

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
  };

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

  return {
    get size() {
      return columns.size;
    },
    get bytes() {
      return columns.bytes + vectors.bytes + words.bytes + (states?.bytes ?? 0);
    },
    ...createListing(columns),

    put({ vectors: passages, states: tokenStates, ...memory }) {
      remove(memory.id);
      const slot = columns.add(memory);
      vectors.put(slot, passages);
      words.put(slot, memory.content);
      if (columns.size > mostWithStates) dropStates();
      else states?.put(slot, tokenStates);
    },

    remove,

    get(id) {
      const slot = columns.slotOf(id);
      return slot === undefined ? null : columns.row(slot);
    },

    *rows() {
      for (let slot = 0; slot < columns.end; slot++) if (columns.has(slot)) yield columns.row(slot);
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

    ofSessions(sessions, { filter, ...question }, limit) {
      const accepts = columns.accepts(filter);
      const found: number[] = [];
      for (const session of new Set(sessions)) {
        found.push(...columns.ofSession(session, accepts, limit - found.length));
      }
      return candidatesOf(found, question);
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

    interaction(ids, question, weights) {
      if (!states) return null;
      const slots = ids.map(columns.slotOf);
      return named(ids, states.interaction(question.numbers, weights, slots));
    },

    close() {
      vectors.close();
      dropStates();
      columns.close();
    },
  };
}
