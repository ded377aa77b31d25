import type { Kind } from "./kind.ts";

/** Characters from which on a text counts as long, and the number of doublings that count. */
const LONG = 600;
const MOST = 2;
/** Coverage of the question's words from which on a text was found by its words. */
const COVERED = 0.3;

/** Long texts contain many words by chance, so their matching words say less. */
export const length: Kind = {
  part: "length",
  names: ["long"],
  read: () => (memory) => {
    const { length } = memory.memory.content;
    const doublings = Math.min(MOST, Math.max(0, Math.log2(length / LONG)));
    return [doublings * Math.min(1, memory.coverage / COVERED)];
  },
};
