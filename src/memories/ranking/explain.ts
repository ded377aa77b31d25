import type { Explanation } from "../memory.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { partsOf, WEIGHTS } from "./weights.ts";

/** A relevance of 1 has no log-odds. */
const HIGHEST = 0.9999;
/** Differences that rounding makes. */
const ROUNDED = 0.0005;

/**
 * Tells what a memory's score is made of. One that has the place and score of an older or newer version
 * of its fact has what it lacks from `time`.
 */
export function explain(
  { signals, sum, logOdds, chance, kept }: Ranked,
  { decay }: Pick<Question, "decay">,
): Explanation {
  const parts = partsOf(signals, WEIGHTS);
  const own = 1 / (1 + Math.exp(-logOdds));
  const shown = Math.min(HIGHEST, chance);
  const moved = Math.abs(shown - own) > ROUNDED ? Math.log(shown / (1 - shown)) - logOdds : 0;
  return {
    start: WEIGHTS.start,
    ...parts,
    time: parts.time + moved,
    question: logOdds - sum,
    relevance: moved === 0 ? own : shown,
    retention: kept,
    decay: decay?.depth ?? 0,
  };
}
