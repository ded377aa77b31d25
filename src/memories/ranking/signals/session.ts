import type { Considered } from "../considered.ts";
import type { Kind } from "./kind.ts";
import { isQuestion } from "./wording.ts";

/**
 * Characters up to which the neighbours of a memory count in full. They count less for a longer memory, in proportion.
 * Otherwise the long reply of an assistant would rank above the message that it answers.
 */
const BORROWS_IN_FULL = 600;

const NONE = [0] as const;

/**
 * The neighbours of a memory in its session. An answer is often next to the memory that has the question's words. So
 * these signals count the words of the question that the two memories before and after have, and the memory itself lacks.
 */
export const session: Kind = {
  part: "session",
  names: ["around"],
  read({ terms }) {
    const rareness = Float64Array.from(terms, (term) => term.rareness);
    const all = rareness.reduce((sum, one) => sum + one, 0);
    return (memory) => {
      const { matches, previous, next } = memory;
      if (all === 0 || (previous === null && next === null)) return NONE;
      const before = previous?.previous?.matches;
      const after = next?.next?.matches;
      let found = 0;
      for (let at = 0; at < rareness.length; at++) {
        if (matches[at]) continue;
        if (previous?.matches[at] || next?.matches[at] || before?.[at] || after?.[at]) {
          found += rareness[at] ?? 0;
        }
      }
      return [(borrows(memory) * found) / all];
    };
  },
};

/** The relevance of the message to which a memory replies. */
export const reply: Kind = {
  part: "session",
  names: ["reply"],
  read: () => (memory) => {
    const { previous } = memory;
    if (!previous || !isQuestion(previous.memory.content)) return NONE;
    return [borrows(memory) * previous.own];
  },
};

function borrows({ memory }: Considered): number {
  return Math.min(1, BORROWS_IN_FULL / memory.content.length);
}
