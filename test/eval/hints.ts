import { cosineOf, type Embedder } from "../../src/embedding/embedder.ts";
import type { Relate } from "../../src/embedding/relations/relater.ts";
import {
  type HintKind,
  hintOf,
  isRestatement,
  likenessOf,
} from "../../src/memories/ranking/hint.ts";
import { meaningScore } from "../../src/memories/ranking/relevance.ts";
import type { Pair, PairKind } from "./pairs.ts";

export interface Judged extends Pair {
  hint: HintKind | null;
  isMerged: boolean;
  proposed: "same" | "changed" | null;
}

/** Tells how alike two texts are in meaning. */
export function createLikeness({ embedContent, model }: Pick<Embedder, "embedContent" | "model">) {
  const vectors = new Map<string, Promise<Float32Array>>();
  const vectorOf = (text: string) => {
    const known = vectors.get(text);
    if (known) return known;
    const made = embedContent(text).then(({ vectors: [first] }) => first ?? new Float32Array(0));
    vectors.set(text, made);
    return made;
  };
  return async (a: string, b: string) =>
    meaningScore(cosineOf(await vectorOf(a), await vectorOf(b)), model.cosines);
}

/**
 * What is said of a pair when its later memory is saved, whether a search makes one of both, and what is proposed to tidy
 * them.
 */
export async function judgePair(pair: Pair, alike: number, relate: Relate): Promise<Judged> {
  const texts = [{ content: pair.earlier }, { content: pair.later }] as const;
  return {
    ...pair,
    hint: await hintOf(...texts, alike, relate),
    isMerged: await isRestatement(...texts, alike, relate),
    proposed: await likenessOf(...texts, alike, relate),
  };
}

/** Shares of judged pairs: what hints tell, and what searches merge. */
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
    "told of related": shareOf(ofKind("related"), ({ hint }) => hint !== null),
    "told of others": shareOf(ofKind("unrelated"), ({ hint }) => hint !== null),
    merged: shareOf(ofKind("same"), ({ isMerged }) => isMerged),
    "merged across a difference": shareOf(
      ofKind("changed", "related", "unrelated"),
      ({ isMerged }) => isMerged,
    ),
  };
}

/** Shares of judged pairs: which of them are proposed to be tidied, and how many of the proposals are wrong. */
export function proposalShares(judged: readonly Judged[]) {
  const isRight = ({ kind, proposed }: Judged) => proposed === kind;
  const proposed = judged.filter((one) => one.proposed);
  const ofKind = (...kinds: PairKind[]) => judged.filter(({ kind }) => kinds.includes(kind));
  return {
    same: shareOf(ofKind("same"), isRight),
    changed: shareOf(ofKind("changed"), isRight),
    wrong: shareOf(proposed, (one) => !isRight(one)),
    others: shareOf(ofKind("related", "unrelated"), (one) => one.proposed !== null),
  };
}

export function shareOf<Item>(all: readonly Item[], holds: (item: Item) => boolean): number {
  return all.filter(holds).length / all.length;
}
