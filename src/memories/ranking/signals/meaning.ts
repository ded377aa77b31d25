import type { Kind } from "./kind.ts";

/** What counts twice where it stands for words too: a search by meaning alone. */
export const ALONE = 2;

/** How near a memory's meaning is to the question's. */
export const meaning: Kind = {
  part: "meaning",
  names: ["meaning"],
  read({ mode }) {
    const times = mode === "semantic" ? ALONE : 1;
    return (memory) => [times * memory.meaning];
  },
};
