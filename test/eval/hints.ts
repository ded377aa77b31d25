import { type HintKind, hintOf, isRestatement } from "../../src/memories/ranking/hint.ts";
import type { Pair, PairKind } from "./pairs.ts";

export interface Judged extends Pair {
  hint: HintKind | null;
  isMerged: boolean;
}

/** What is said of a pair when its later memory is saved, and whether a search makes one of both. */
export function judgePair(
  pair: Pair,
  alike: number,
  relate?: Parameters<typeof hintOf>[3],
): Judged {
  const [earlier, later] = [{ content: pair.earlier }, { content: pair.later }];
  return {
    ...pair,
    hint: hintOf(earlier, later, alike, relate),
    isMerged: isRestatement(earlier, later, alike, relate),
  };
}

/** Shares of judged pairs. */
export function hintShares(judged: readonly Judged[]) {
  const ofKind = (...kinds: PairKind[]) => judged.filter(({ kind }) => kinds.includes(kind));
  const told = (wanted: HintKind) => judged.filter(({ hint }) => hint === wanted);
  const changed = ofKind("changed");
  return {
    changed: changed.length,
    precision: shareOf(told("changed"), ({ kind }) => kind === "changed"),
    recall: shareOf(changed, ({ hint }) => hint === "changed"),
    "called the same": shareOf(changed, ({ hint }) => hint === "near"),
    "rightly the same": shareOf(told("near"), ({ kind }) => kind === "same"),
    "told of others": shareOf(ofKind("unrelated"), ({ hint }) => hint !== null),
    merged: shareOf(ofKind("same"), ({ isMerged }) => isMerged),
    "merged across a difference": shareOf(
      ofKind("changed", "related", "unrelated"),
      ({ isMerged }) => isMerged,
    ),
  };
}

export function shareOf<Item>(all: readonly Item[], holds: (item: Item) => boolean): number {
  return all.filter(holds).length / all.length;
}
