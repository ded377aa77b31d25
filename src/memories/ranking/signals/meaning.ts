import type { Kind } from "./kind.ts";

/** In a search by meaning alone, meaning counts twice, since there are no words. */
export const ALONE = 2;

/** How near the meaning of a memory is to that of the question. */
export const meaning: Kind = {
  part: "meaning",
  names: ["meaning"],
  read({ mode }) {
    const times = mode === "semantic" ? ALONE : 1;
    return (memory) => [times * memory.meaning];
  },
};
