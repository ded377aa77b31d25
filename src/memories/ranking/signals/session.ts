import type { Considered } from "../considered.ts";
import type { Kind } from "./kind.ts";
import { isQuestion } from "./wording.ts";

/**
 * Characters up to which a memory borrows from its neighbours in full; a longer one borrows less, in
 * proportion. Without it the long reply of an assistant is ranked above the message that it answers.
 */
const BORROWS_IN_FULL = 600;

const NONE = [0, 0, 0] as const;

/**
 * What stands around a memory in its session: an answer often lies beside the memory that shares its
 * words with the question. The better of the two neighbours, the best of the session, and the words of the
 * question that only the two memories before and after have.
 */
export const session: Kind = {
  part: "session",
  names: ["beside", "session", "around"],
  read({ terms }) {
    const rareness = Float64Array.from(terms, (term) => term.rareness);
    const all = Math.max(
      Number.MIN_VALUE,
      rareness.reduce((sum, one) => sum + one, 0),
    );
    return (memory) => {
      const { session, previous, next } = memory;
      if (session === null) return NONE;
      const share = borrows(memory);
      const beside = Math.max(previous?.own ?? 0, next?.own ?? 0);
      const around = [previous?.previous, previous, next, next?.next];
      let found = 0;
      for (let at = 0; at < rareness.length; at++) {
        const isAround = !memory.matches[at] && around.some((turn) => (turn?.matches[at] ?? 0) > 0);
        if (isAround) found += rareness[at] ?? 0;
      }
      return [share * beside, share * session.best, (share * found) / all];
    };
  },
};

/** How relevant what a memory replies to is: to be read for the best only. */
export const reply: Kind = {
  part: "session",
  names: ["reply"],
  read: () => (memory) => {
    const { previous } = memory;
    return [previous && isQuestion(previous.memory.content) ? borrows(memory) * previous.own : 0];
  },
};

function borrows({ memory }: Considered): number {
  return Math.min(1, BORROWS_IN_FULL / memory.content.length);
}
