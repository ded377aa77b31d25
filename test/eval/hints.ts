import { type HintKind, hintOf, isRestatement } from "../../src/memories/ranking/hint.ts";
import type { Likeness, relationOf } from "../../src/memories/ranking/relation.ts";
import type { Pair, PairKind } from "./pairs.ts";

export interface Judged extends Pair {
  hint: HintKind | null;
  isMerged: boolean;
}

/** What is said of a pair when its later memory is saved, and whether a search makes one of both. */
export function judgePair<Own extends Pair>(
  pair: Own,
  likeness: Likeness,
  relate?: typeof relationOf,
): Own & Judged {
  const { earlier, later } = pair;
  return {
    ...pair,
    hint: hintOf(earlier, later, likeness, relate),
    isMerged: isRestatement({ content: earlier }, { content: later }, likeness, relate),
  };
}

/** Shares of judged pairs. */
export function hintShares(judged: readonly Judged[]) {
  const ofKind = (...kinds: PairKind[]) => judged.filter(({ kind }) => kinds.includes(kind));
  const [changed, told] = [ofKind("changed"), judged.filter(({ hint }) => hint === "changed")];
  return {
    changed: changed.length,
    precision: shareOf(told, ({ kind }) => kind === "changed"),
    recall: shareOf(changed, ({ hint }) => hint === "changed"),
    "called the same": shareOf(changed, ({ hint }) => hint === "near"),
    "told of others": shareOf(ofKind("unrelated"), ({ hint }) => hint !== null),
    merged: shareOf(ofKind("same"), ({ isMerged }) => isMerged),
    "merged across a difference": shareOf(
      ofKind("changed", "related", "unrelated"),
      ({ isMerged }) => isMerged,
    ),
  };
}

function shareOf(all: readonly Judged[], holds: (pair: Judged) => boolean): number {
  return all.filter(holds).length / all.length;
}
