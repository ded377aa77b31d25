import type { Kind } from "./kind.ts";

/** The words of the question that a memory has. */
export const words: Kind = {
  part: "words",
  names: ["coverage"],
  read: ({ mode }) =>
    // Where meaning doesn't count, words stand for both, and how often they come counts too.
    mode === "keyword" ? ({ coverage, own }) => [coverage + own] : ({ coverage }) => [coverage],
};
