import { logOddsOf } from "./scores.ts";

/**
 * What a captured turn has to be better by to come before a saved memory that is not taken for an answer, in
 * log-odds of their scores. Chosen by `test/eval/captured.ts`.
 */
const STEP = 3;
const LOWEST = 1e-6;

/** What the order of captured turns needs of a result. */
interface Scored {
  score: number;
  chance: number;
}

/**
 * Puts captured turns among what was saved. A saved memory that is taken for an answer comes before all of
 * them, and others before those that are about as good: what was said by the way is a weaker sign than
 * what somebody saved, and who asks the same again has asked it before. What comes later gets no higher
 * score.
 * @param saved with comparable scores, the best first
 * @param captured the same
 * @param floor the chance from which on a memory is taken for an answer
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
