import type { Kind } from "./kind.ts";

/** How near a memory's meaning is to the question's, and whether its words agree with that. */
export const meaning: Kind = {
  part: "meaning",
  names: ["meaning", "agreement"],
  read: ({ mode }) =>
    // Where words don't count, meaning stands for both.
    mode === "semantic"
      ? ({ meaning }) => [2 * meaning, 0]
      : ({ meaning, coverage }) => [meaning, meaning * coverage],
};
