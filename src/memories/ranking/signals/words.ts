import type { Kind } from "./kind.ts";

/** What words count more where they stand for meaning too: a search by words alone. */
const ALONE = 1.5;

/** The words of the question that a memory has. */
export const words: Kind = {
  part: "words",
  names: ["coverage"],
  read: ({ mode }) =>
    mode === "keyword"
      ? ({ coverage, own }) => [ALONE * (coverage + own)]
      : ({ coverage }) => [coverage],
};
