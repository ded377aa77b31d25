import { withTimeLimit } from "../../timing/time-limit.ts";
import type { Relate } from "./relater.ts";

/** Milliseconds that a request waits for a relation: the worker may have to start. */
const WAIT_MS = 5_000;

/**
 * Pairs of others for which a search waits. While more search at once than the model can serve, further searches do without
 * it.
 */
export const AHEAD_OF_SEARCH = 2;

/**
 * Relates pairs for a request that must not fail or take long. It is told nothing of further ones, and of those that can't be
 * related now. A pair counts once.
 * @param ahead the pairs of others for which it waits
 */
export function relateUpTo(most: number, relate: Relate, ahead?: number): Relate {
  let left = most;
  const asked = new Map<string, ReturnType<Relate>>();
  const ask: Relate = async (earlier, later) => {
    if (left-- <= 0) return null;
    return await withTimeLimit(
      relate(earlier, later, ahead).catch(() => null),
      WAIT_MS,
      () => {
        left = 0;
        return null;
      },
    );
  };
  return async (earlier, later) => {
    const pair = `${earlier}\0${later}`;
    const relation = asked.get(pair) ?? ask(earlier, later);
    asked.set(pair, relation);
    return await relation;
  };
}
