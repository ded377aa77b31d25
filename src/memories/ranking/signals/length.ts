import type { Kind } from "./kind.ts";

/** Characters from which on a text has many words, and doublings of that that count. */
const LONG = 600;
const MOST = 2;
/** Coverage from which on a text was found by its words. */
const COVERED = 0.3;

/** Whether words that a memory has say less, since it has many. */
export const length: Kind = {
  part: "length",
  names: ["long"],
  read: () => (memory) => {
    const { length } = memory.memory.content;
    const doublings = Math.min(MOST, Math.max(0, Math.log2(length / LONG)));
    return [doublings * Math.min(1, memory.coverage / COVERED)];
  },
};
