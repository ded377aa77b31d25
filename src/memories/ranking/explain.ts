import type { Explanation } from "../model/found-memory.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { chanceOf, logOddsOf } from "./scores.ts";
import { partsOf, WEIGHTS } from "./weights.ts";

/** A relevance of 0 or 1 has no log-odds. */
const LOWEST = 0.0001;
/** Differences up to this come from rounding. */
const ROUNDED = 0.0005;

/**
 * Explains a memory's score by its parts. If the memory took the place and score of another version of its
 * fact, `time` has the difference. If its score was lowered to that of the older memory before it,
 * `question` has the difference.
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
