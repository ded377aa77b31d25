import type { Considered } from "../considered.ts";
import type { Kind } from "./kind.ts";
import { isQuestion } from "./wording.ts";

/**
 * Characters up to which a memory borrows from its neighbours in full; a longer one borrows less, in
 * proportion. Without it the long reply of an assistant is ranked above the message that it answers.
 */
const BORROWS_IN_FULL = 600;

const NONE = [0] as const;

/**
 * What stands around a memory in its session, since an answer often lies beside the memory that shares its
 * words with the question: which of the question's words the two before and the two after have, but not
 * the memory itself.
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

/** How relevant the question is that a memory replies to. */
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
