import type { Kind } from "./kind.ts";

/** In a search by words alone, words count more by this factor, since there is no meaning. */
const ALONE = 1.5;

/** The question's words that a memory contains. */
export const words: Kind = {
  part: "words",
  names: ["coverage"],
  read: ({ mode }) =>
    mode === "keyword"
      ? ({ coverage, own }) => [ALONE * (coverage + own)]
      : ({ coverage }) => [coverage],
};
