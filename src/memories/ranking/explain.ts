import type { Explanation } from "../memory.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { partsOf, WEIGHTS } from "./weights.ts";

/** Tells what a memory's score is made of. */
export function explain(
  { signals, sum, kept }: Ranked,
  { decay }: Pick<Question, "decay">,
): Explanation {
  return {
    start: WEIGHTS.start,
    ...partsOf(signals, WEIGHTS),
    relevance: 1 / (1 + Math.exp(-sum)),
    retention: kept,
    decay: decay?.depth ?? 0,
  };
}
