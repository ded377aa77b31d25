import type { Explanation } from "../memory.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { partsOf, WEIGHTS } from "./weights.ts";

/** What scores differ by when they are shown, since they are rounded. */
const ROUNDED = 0.001;
/** A relevance of 1 has no log-odds. */
const HIGHEST = 0.9999;

/**
 * Tells what a memory's score is made of. One that has the place and score of an older or newer version
 * of its fact has what it lacks from `time`.
 */
export function explain(
  { score, signals, sum, kept }: Ranked,
  { decay }: Pick<Question, "decay">,
): Explanation {
  const depth = decay?.depth ?? 0;
  const parts = partsOf(signals, WEIGHTS);
  const own = 1 / (1 + Math.exp(-sum));
  const shown = Math.min(HIGHEST, score / (1 - depth + depth * kept));
  const isMoved = Math.abs(shown - own) > ROUNDED;
  const relevance = isMoved ? shown : own;
  return {
    start: WEIGHTS.start,
    ...parts,
    time: parts.time + (isMoved ? Math.log(shown / (1 - shown)) - sum : 0),
    relevance,
    retention: kept,
    decay: depth,
  };
}
