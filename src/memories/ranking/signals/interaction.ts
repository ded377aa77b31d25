import { tokensOf } from "../../indexes/tokens.ts";
import type { Term } from "../../indexes/words.ts";
import type { Considered } from "../considered.ts";
import type { Kind } from "./kind.ts";
import { ALONE } from "./meaning.ts";

/** What it is, on average, by the meaning and the words of a memory that is not compared. */
const USUAL = { start: 0.25, meaning: 0.65, coverage: 0.2 };

/**
 * Late interaction (Khattab & Zaharia, "ColBERT", 2020): for each word of the question the word of the memory
 * that means most nearly the same where it stands, on average.
 */
export const interaction: Kind = {
  part: "meaning",
  names: ["interaction"],
  read({ mode, understood }) {
    if (mode === "keyword") return () => [0];
    const times = mode === "semantic" ? ALONE : understood;
    return (memory) => [times * interactionOf(memory)];
  },
};

/** Of a memory of several passages only some words are compared, which may be the wrong ones. */
function interactionOf(memory: Considered): number {
  if (memory.interaction === null) return usual(memory);
  const isWhole = memory.memory.starts.length < 2;
  return isWhole ? memory.interaction : Math.max(memory.interaction, usual(memory));
}

function usual({ meaning, coverage }: Considered): number {
  return USUAL.start + USUAL.meaning * meaning + USUAL.coverage * coverage;
}

/**
 * What each word of a question counts there: rare ones more, those that are cut into pieces not more than
 * others.
 * @param words of the question, one for each piece
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
