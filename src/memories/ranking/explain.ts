import type { Explanation } from "../found-memory.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { chanceOf, logOddsOf } from "./scores.ts";
import { partsOf, WEIGHTS } from "./weights.ts";

/** A relevance of 0 or 1 has no log-odds. */
const LOWEST = 0.0001;
/** Differences that rounding makes. */
const ROUNDED = 0.0005;

/**
 * Tells what a memory's score is made of. One that has the place and score of an older or newer version
 * of its fact has what it lacks from `time`; one whose score is lowered to that of the memory before it,
 * which is older, has that from `question`.
 */
export function explain(
  { score, signals, sum, logOdds, chance, kept }: Ranked,
  { decay }: Pick<Question, "decay">,
): Explanation {
  const depth = decay?.depth ?? 0;
  const share = 1 - depth + depth * kept;
  const parts = partsOf(signals, WEIGHTS);
  const isMoved = Math.abs(chance - chanceOf(logOdds)) > ROUNDED;
  const moved = isMoved ? logOddsOf(chance, LOWEST) - logOdds : 0;
  const isLowered = Math.abs(chance * share - score) > ROUNDED;
  const reached = isLowered ? logOddsOf(score / share, LOWEST) : logOdds + moved;
  return {
    start: WEIGHTS.start,
    ...parts,
    time: parts.time + moved,
    question: reached - sum - moved,
    relevance: chanceOf(reached),
    retention: kept,
    decay: depth,
  };
}
