import { createStateIndex, named } from "../indexes/token-states.ts";
import { createVectorIndex } from "../indexes/vectors.ts";
import { createWordIndex } from "../indexes/words.ts";
import { createCandidates } from "./candidates.ts";
import { createColumns } from "./columns.ts";
import { createListing } from "./listing.ts";
import type { View } from "./view.ts";

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
  let changes = 0;
  let states = mostWithStates > 0 ? createStateIndex() : null;

  const dropStates = () => {
    states?.close();
    states = null;
  };

  const remove = (id: string) => {
    const slot = columns.slotOf(id);
    if (slot === undefined) return;
    changes++;
    vectors.remove(slot);
    states?.remove(slot);
    words.remove(slot, columns.content(slot));
    columns.remove(slot);
  };

  const candidates = createCandidates({ columns, vectors, words, changes: () => changes });

  return {
    get size() {
      return columns.size;
    },
    get bytes() {
      return columns.bytes + vectors.bytes + words.bytes + (states?.bytes ?? 0);
    },
    ...createListing(columns),
    ...candidates,

    put({ vectors: passages, states: tokenStates, ...memory }) {
      remove(memory.id);
      changes++;
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
