import { withTimeLimit } from "../../timing/time-limit.ts";
import type { Relate } from "./relater.ts";

/** Milliseconds that a request waits for a relation: the worker may have to start. */
const WAIT_MS = 5_000;

/** The most pairs for which a search waits. While the model is busier, a search does without it. */
export const AHEAD_OF_SEARCH = 16;

/**
 * Relates pairs for a request that must not fail or take long. It is told nothing of further ones, and after a failure of none,
 * so that it does without the model as a whole. A pair counts once.
 * @param ahead the pairs that may wait before one
 */
export function relateUpTo(most: number, relate: Relate, ahead?: number): Relate {
  let left = most;
  const asked = new Map<string, ReturnType<Relate>>();
  const ask: Relate = async (earlier, later) => {
    if (left-- <= 0) return null;
    const giveUp = () => {
      left = 0;
      return null;
    };
    return await withTimeLimit(relate(earlier, later, ahead).catch(giveUp), WAIT_MS, giveUp);
  };
  return async (earlier, later) => {
    const pair = `${earlier}\0${later}`;
    const relation = asked.get(pair) ?? ask(earlier, later);
    asked.set(pair, relation);
    return await relation;
  };
}
