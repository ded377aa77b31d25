import { cosineOf, type EmbeddingModel } from "../../embedding/embedder.ts";
import { AHEAD_OF_SEARCH, relateUpTo } from "../../embedding/relations/relate-up-to.ts";
import type { Relate } from "../../embedding/relations/relater.ts";
import { wasCaptured } from "../model/filter.ts";
import type { MemoryRow } from "../model/rows.ts";
import { type Difference, differenceOf, ofKind } from "./difference.ts";
import {
  exactFactOf,
  type FactText,
  type HasContent,
  isTurn,
  MAX_FACT_LENGTH,
  type TokenKind,
  UNSPACED,
} from "./fact-text.ts";
import { meaningScore } from "./relevance.ts";
import { tellOthers, tellsChange } from "./versions/attribute.ts";

/** How an earlier memory relates to a new one: it says nearly the same, or the new one changes its fact. */
export type HintKind = "near" | "changed";

/** The likeness from which on texts say the same if their words cannot be compared: a cosine of 0.85. */
const SAME = 0.7;
/** The likeness below which memories are not compared, to save time. */
export const LEAST_ALIKE = 0.25;
/**
 * The least sum of likeness and shared words, as a share of the shorter text's, from which on the model of relations is asked
 * whether a text outdates another. Of random texts a quarter as many pairs are asked, and a thirtieth of the proposals is lost.
 */
const LEAST_WORTH_ASKING = 0.6;
/**
 * The least chances that a later text says the same as an earlier one, or changes its fact. Chosen by
 * `test/eval/relations.ts` on pairs that the model did not learn from: a hint is judged at once by who reads it, a proposal
 * to tidy must rarely be wrong, and merging hides one of two.
 */
const LEAST = {
  hint: { same: 0.6, changed: 0.85 },
  merged: 0.6,
  proposed: { same: 0.9, changed: 0.9 },
  sameWithMore: 0.98,
};
/** The least chance of a change by which the earlier text is left out of a recall. */
export const LEFT_OUT = 0.95;
/** Words that only one of two texts has that say the opposite. */
const MAX_OPPOSITE_WORDS = 1;
/** Letters of the pieces by which texts are compared, and the share of them that restatements have in common. */
const PIECE = 4;
const SAME_PIECES = 0.72;
/** Kinds of words that are values: another one says something else. */
const AMOUNTS = ["number", "day"] as const;
const VALUES = [...AMOUNTS, "code", "name"] as const;
const CODE_SPAN = /`[^`]+`/g;

/**
 * The hint about an earlier memory when a later one is saved; null when there is nothing to say, for
 * example when both are merely about the same subject.
 * @param alike 0 to 1, by `meaningScore`
 */
export async function hintOf(
  earlier: HasContent,
  later: HasContent,
  alike: number,
  relate: Relate,
): Promise<HintKind | null> {
  if (!isPlain(earlier, later)) return alike >= SAME ? "near" : null;
  if (alike < LEAST_ALIKE) return null;
  const { difference, isOther, hasReplaced } = compareTexts(earlier, later);
  if (difference.regions.length === 0 && !isOther) return "near";
  if (tellOthers(earlier, later) === "thing") return null;
  const relation = await relate(earlier.content, later.content);
  if (!relation) return null;
  if (relation.changed >= LEAST.hint.changed) return "changed";
  if (relation.same < LEAST.hint.same) return null;
  // Another value in place of one never says the same. The model overlooks that 9 am is not 9 pm.
  if (isReplaced(difference, AMOUNTS)) return "changed";
  return hasReplaced ? null : "near";
}

/**
 * Whether two memories say the same, so that one of them is enough. Never across a different number, name, day,
 * identifier or a negation.
 * @param alike 0 to 1, by `meaningScore`
 */
export async function isRestatement(
  earlier: HasContent,
  later: HasContent,
  alike: number,
  relate: Relate,
): Promise<boolean> {
  const isSame = sayTheSame(earlier, later, alike);
  if (isSame !== null) return isSame;
  if (tellOthers(earlier, later) === "thing") return false;
  return ((await relate(earlier.content, later.content))?.same ?? 0) >= LEAST.merged;
}

/**
 * What the later one of two memories that somebody saved is to the earlier one, for tidying and recalls: it says the same,
 * or it changes its fact. Null in doubt, and so more often than a hint is, which its reader can judge at once, and for turns of
 * a conversation, which go on from each other.
 * @param alike 0 to 1, by `meaningScore`
 * @param leastChanged the least chance of a change, unless they tell an attribute
 */
export async function likenessOf(
  earlier: HasContent,
  later: HasContent,
  alike: number,
  relate: Relate,
  leastChanged = LEAST.proposed.changed,
): Promise<"same" | "changed" | null> {
  if (alike < LEAST_ALIKE || isTurn(earlier.content) || isTurn(later.content)) return null;
  if (!isPlain(earlier, later)) return sayTheSame(earlier, later, alike) ? "same" : null;
  const { difference, shared, isOther, hasReplaced } = compareTexts(earlier, later);
  if (difference.regions.length === 0 && !isOther) return "same";
  if (alike + shared < LEAST_WORTH_ASKING || tellOthers(earlier, later)) return null;
  const relation = await relate(earlier.content, later.content);
  if (!relation) return null;
  const { same, changed } = relation;
  if (!hasReplaced && same >= (isOther ? LEAST.sameWithMore : LEAST.proposed.same)) return "same";
  const isChange = changed >= leastChanged || tellsChange(earlier.content, later.content, changed);
  return isChange ? "changed" : null;
}

/** Whether two texts say the same, as far as their words tell; null when only the model of relations can tell. */
function sayTheSame(earlier: HasContent, later: HasContent, alike: number): boolean | null {
  const [one, other] = [earlier.content, later.content];
  if (Math.max(one.length, other.length) > MAX_FACT_LENGTH) return one.trim() === other.trim();
  if (!isPlain(earlier, later)) return alike >= SAME && shareOfPieces(one, other) >= SAME_PIECES;
  if (alike < LEAST_ALIKE) return false;
  const { difference, isOther } = compareTexts(earlier, later);
  if (isOther) return false;
  return difference.regions.length === 0 ? true : null;
}

/** How the words of two texts differ, and whether one has a value that the other lacks, or another one in its place. */
function compareTexts(earlier: HasContent, later: HasContent) {
  const [a, b] = [exactFactOf(earlier), exactFactOf(later)];
  const difference = differenceOf(a, b);
  const { both, onlyEarlier, onlyLater } = difference;
  const hasOtherCode = haveOtherCode(earlier.content, later.content);
  const isOpposite =
    a.negates !== b.negates && onlyEarlier.length + onlyLater.length <= MAX_OPPOSITE_WORDS;
  return {
    difference,
    /** The share of the shorter text's words that both have. */
    shared: both / Math.max(1, Math.min(a.keys.size, b.keys.size)),
    isOther: hasOtherCode || hasOtherValue(a, b, difference),
    hasReplaced: hasOtherCode || isOpposite || isReplaced(difference),
  };
}

/** Whether the words of two texts can be compared. */
function isPlain({ content: one }: HasContent, { content: other }: HasContent): boolean {
  return Math.max(one.length, other.length) <= MAX_FACT_LENGTH && !UNSPACED.test(one + other);
}

/** Whether each of two texts has a value of one of these kinds in place of one that the other has. */
function isReplaced(
  { onlyEarlier, onlyLater }: Difference,
  kinds: readonly TokenKind[] = VALUES,
): boolean {
  return kinds.some(
    (kind) => ofKind(onlyEarlier, kind).length > 0 && ofKind(onlyLater, kind).length > 0,
  );
}

/**
 * Whether one of two texts has a number, name, day or identifier that the other lacks, or only one is negated. A word "one"
 * alone may be a pronoun.
 */
function hasOtherValue(a: FactText, b: FactText, { onlyEarlier, onlyLater }: Difference): boolean {
  const values = ofKind([...onlyEarlier, ...onlyLater], ...VALUES);
  return a.negates !== b.negates || values.some(({ word }) => word !== "one");
}

/** Whether both of two texts have code spans, but not the same. */
function haveOtherCode(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => [...new Set(text.match(CODE_SPAN))].sort().join());
  return a !== "" && b !== "" && a !== b;
}

/** The share of pieces of four letters that two texts have in common (Jaccard, "Distribution de la flore", 1901). */
function shareOfPieces(one: string, other: string): number {
  const [a, b] = [piecesOf(one), piecesOf(other)];
  let both = 0;
  for (const piece of a) if (b.has(piece)) both++;
  return both / Math.max(1, a.size + b.size - both);
}

function piecesOf(text: string): Set<string> {
  const letters = text.toLowerCase().replaceAll(/\s+/g, " ").trim();
  const pieces = new Set<string>();
  for (let at = 0; at + PIECE <= letters.length; at++) pieces.add(letters.slice(at, at + PIECE));
  return pieces;
}

/** The cosine from which on two texts may say the same. */
const LEAST_COSINE = 0.75;
/** Results that are compared with the ones before them, and pairs that the model of relations judges. */
const COMPARED = 24;
const RELATED = 12;

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
 * @param areCurrent whether all hold, although some may have been superseded after the moment of the search
 * @returns results with the ids of the others in `alike`
 */
export async function collapse<Result extends Restated>(
  results: readonly Result[],
  vectors: ReadonlyMap<string, Float32Array>,
  embedder: { model: Pick<EmbeddingModel, "cosines">; relate: Relate },
  areCurrent = false,
): Promise<(Result & { alike?: string[] })[]> {
  const relate = relateUpTo(RELATED, embedder.relate, AHEAD_OF_SEARCH);
  const groups: Result[][] = [];
  for (const [place, result] of results.entries()) {
    const own = place < COMPARED ? vectors.get(result.memory.id) : undefined;
    const group = own && (await groupOf(result, own));
    if (group) group.push(result);
    else groups.push([result]);
  }
  return groups.flatMap((group) => {
    const [best] = group;
    const shown = group.toSorted((a, b) => byWorth(a, b, areCurrent))[0];
    if (!best || !shown) return [];
    const alike = group.filter((one) => one !== shown).map(({ memory }) => memory.id);
    const { score, chance } = best;
    return [{ ...shown, score, chance, ...(alike.length > 0 && { alike }) }];
  });

  async function groupOf(result: Result, vector: Float32Array): Promise<Result[] | undefined> {
    for (const group of groups) {
      const [first] = group;
      if (first && (await isSame(first, result, vector))) return group;
    }
    return undefined;
  }

  async function isSame(one: Result, other: Result, vector: Float32Array): Promise<boolean> {
    const others = vectors.get(one.memory.id);
    const cosine = others ? cosineOf(vector, others) : 0;
    if (cosine < LEAST_COSINE) return false;
    const [a, b] = [one.memory, other.memory].sort((x, y) => x.createdAt - y.createdAt);
    if (!a || !b || a.project !== b.project) return false;
    return await isRestatement(a, b, meaningScore(cosine, embedder.model.cosines), relate);
  }
}

/** The result to show first: one that holds, that was saved on purpose, that is pinned, that is new. */
function byWorth(a: Restated, b: Restated, areCurrent: boolean): number {
  const isOld = ({ memory }: Restated) => !areCurrent && memory.supersededBy !== null;
  return (
    Number(a.newer !== undefined) - Number(b.newer !== undefined) ||
    Number(isOld(a)) - Number(isOld(b)) ||
    Number(wasCaptured(a.memory)) - Number(wasCaptured(b.memory)) ||
    Number(b.memory.pinned) - Number(a.memory.pinned) ||
    b.memory.createdAt - a.memory.createdAt
  );
}
