import { tokensOf } from "../../indexes/tokens.ts";
import type { Term } from "../../indexes/words.ts";
import type { Considered } from "../considered.ts";
import type { Kind } from "./kind.ts";

/** In a search by meaning alone, meaning counts twice, since there are no words. */
const SINGLE_MODE_FACTOR = 2;

/** How near the meaning of a memory is to that of the question. */
export const meaning: Kind = {
  part: "meaning",
  names: ["meaning"],
  read({ mode }) {
    const times = mode === "semantic" ? SINGLE_MODE_FACTOR : 1;
    return ({ meaning }, row, from) => {
      row[from] = times * meaning;
    };
  },
};

/** Estimates the signal of a memory that is not compared, from its meaning and its words. */
const USUAL = { start: 0.25, meaning: 0.65, coverage: 0.2 };

/**
 * Late interaction (Khattab & Zaharia, "ColBERT", 2020): the average over the question's words of the similarity to
 * the word of the memory whose meaning in context is nearest.
 */
export const interaction: Kind = {
  part: "meaning",
  names: ["interaction"],
  read({ mode, understood }) {
    if (mode === "keyword") return () => {};
    const times = mode === "semantic" ? SINGLE_MODE_FACTOR : understood;
    return (memory, row, from) => {
      row[from] = times * interactionOf(memory);
    };
  },
};

/** Only some words of a memory with several passages are compared, perhaps not the ones that matter. */
function interactionOf(memory: Considered): number {
  if (memory.interaction === null) return usual(memory);
  const isWhole = memory.memory.starts.length < 2;
  return isWhole ? memory.interaction : Math.max(memory.interaction, usual(memory));
}

function usual({ meaning, coverage }: Considered): number {
  return USUAL.start + USUAL.meaning * meaning + USUAL.coverage * coverage;
}

/**
 * The weight of each piece of the question's words. Rare words count more. A word that is cut into several pieces
 * counts no more than another one.
 * @param words the word of each piece
 */
export function interactionWeights(words: readonly string[], terms: readonly Term[]): number[] {
  const rareness = new Map(terms.map((term) => [term.token, term.rareness]));
  const pieces = new Map<string, number>();
  for (const word of words) pieces.set(word, (pieces.get(word) ?? 0) + 1);
  return words.map((word) => {
    const known = tokensOf(word).flatMap((token) => rareness.get(token) ?? []);
    const weight = known.length > 0 ? Math.sqrt(Math.max(...known)) : 1;
    return weight / (pieces.get(word) ?? 1);
  });
}
