import type { EmbeddingModel } from "../../embedding/embedder.ts";
import { wasCaptured } from "../model/filter.ts";
import type { MemoryRow } from "../model/rows.ts";
import { isRestatement } from "./hint.ts";
import { meaningScore } from "./relevance.ts";
import { cosineOf } from "./version-order.ts";

/** The cosine from which on two texts may say the same. */
const LEAST_COSINE = 0.75;
/** Results that are compared with the ones before them. */
const COMPARED = 24;

/** A result of a search, as far as restatements need it. */
interface Restated {
  memory: MemoryRow;
  score: number;
  chance: number;
  newer?: string;
}

/**
 * Makes one result of those that say the same: at the best place, the one that holds, the newest of equals. Saved
 * memories come before captured turns.
 * @param results best first
 * @param vectors of the first passages, by id
 * @returns results with the ids of the others in `alike`
 */
export function collapse<Result extends Restated>(
  results: readonly Result[],
  vectors: ReadonlyMap<string, Float32Array>,
  cosines: EmbeddingModel["cosines"],
): (Result & { alike?: string[] })[] {
  const groups: Result[][] = [];
  for (const [place, result] of results.entries()) {
    const own = place < COMPARED ? vectors.get(result.memory.id) : undefined;
    const group = own && groups.find(([first]) => first && isSame(first, result, own));
    if (group) group.push(result);
    else groups.push([result]);
  }
  return groups.flatMap((group) => {
    const [best] = group;
    const shown = group.toSorted(byWorth)[0];
    if (!best || !shown) return [];
    const alike = group.filter((one) => one !== shown).map(({ memory }) => memory.id);
    const { score, chance } = best;
    return [{ ...shown, score, chance, ...(alike.length > 0 && { alike }) }];
  });

  function isSame(one: Result, other: Result, vector: Float32Array): boolean {
    const others = vectors.get(one.memory.id);
    const cosine = others ? cosineOf(vector, others) : 0;
    if (cosine < LEAST_COSINE) return false;
    const [a, b] = [one.memory, other.memory].sort((x, y) => x.createdAt - y.createdAt);
    if (!a || !b || a.project !== b.project) return false;
    return isRestatement(a, b, meaningScore(cosine, cosines));
  }
}

/** The result to show first: one that holds, that was saved on purpose, that is pinned, that is new. */
function byWorth(a: Restated, b: Restated): number {
  return (
    Number(a.newer !== undefined) - Number(b.newer !== undefined) ||
    Number(a.memory.supersededBy !== null) - Number(b.memory.supersededBy !== null) ||
    Number(wasCaptured(a.memory)) - Number(wasCaptured(b.memory)) ||
    Number(b.memory.pinned) - Number(a.memory.pinned) ||
    b.memory.createdAt - a.memory.createdAt
  );
}
