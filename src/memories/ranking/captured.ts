import { logOddsOf } from "./scores.ts";

/**
 * The lead that a captured turn needs to come before a saved memory that does not count as an answer: the
 * difference of their scores in log-odds. Chosen by `test/eval/captured.ts`.
 */
const STEP = 3;
const LOWEST = 1e-6;

/** The fields of a result that determine the place of captured turns. */
interface Scored {
  score: number;
  chance: number;
}

/**
 * Merges captured turns into saved memories. A saved memory that counts as an answer comes before all
 * turns, any other before turns that are about as good: a remark in passing is weaker evidence than a
 * saved memory, and a repeated question finds the turn in which it was asked before. No result gets a higher
 * score than the one before it.
 * @param saved with comparable scores, the best first
 * @param captured with comparable scores, the best first
 * @param floor the chance from which on a memory counts as an answer
 */
export function placeAmongSaved<Saved extends Scored, Captured extends Scored>(
  saved: readonly Saved[],
  captured: readonly Captured[],
  floor: number,
): (Saved | Captured)[] {
  const placed: (Saved | Captured)[] = [];
  let next = 0;
  let highest = 1;
  const place = (one: Saved | Captured) => {
    highest = Math.min(highest, one.score);
    placed.push({ ...one, score: highest });
  };
  for (const one of saved) {
    while (one.chance < floor) {
      const turn = captured[next];
      if (!turn || worthOf(turn) - STEP <= worthOf(one)) break;
      place(turn);
      next++;
    }
    place(one);
  }
  for (const turn of captured.slice(next)) place(turn);
  return placed;
}

function worthOf({ score }: Scored): number {
  return logOddsOf(score, LOWEST);
}
