import { cosineOf, type EmbeddingModel } from "../../embedding/embedder.ts";
import { wasCaptured } from "../model/filter.ts";
import type { MemoryRow } from "../model/rows.ts";
import {
  exactFactOf,
  type FactMemory,
  type FactText,
  MAX_FACT_LENGTH,
  UNSPACED,
} from "./fact-text.ts";
import likeness from "./likeness.json" with { type: "json" };
import learned from "./relation.json" with { type: "json" };
import { type Difference, ofKind, type RelationTrees, readRelation } from "./relation.ts";
import { chanceOf, meaningScore } from "./relevance.ts";

type HasContent = Pick<FactMemory, "content">;

/** How an earlier memory relates to a new one: it says nearly the same, or the new one changes its fact. */
export type HintKind = "near" | "changed";

/** The likeness from which on texts say the same if their words cannot be compared: a cosine of 0.85. */
const SAME = 0.7;
/**
 * The least log-odds that two texts are about one fact, for each hint; restatements need those of `near`. Chosen by
 * `test/eval/fit-relation.ts`, so that few hints are wrong and only restatements are merged.
 */
const LEAST = { changed: 0.25, near: 0.75 };
/** The log-odds from which on a text without another value has changed a fact rather than said it in other words. */
const CLEARLY = 1;
/** Words that only one of two texts has that say the opposite. */
const MAX_OPPOSITE_WORDS = 1;
/** The log-odds up to which a text may have changed a fact and still count as a restatement. */
const MAX_CHANGED = 0.3;
/** The least log-odds, by the trees of likeness, that restatements are about one fact: merging hides one of two. */
const LEAST_MERGED = 0.8;
/** Letters of the pieces by which texts are compared, and the share of them that restatements have in common. */
const PIECE = 4;
const SAME_PIECES = 0.72;
/** Kinds of words that are values: another one says something else. */
const VALUES = ["number", "day", "code", "name"] as const;
const CODE_SPAN = /`[^`]+`/g;

const relationOf = readRelation(learned as RelationTrees);
/** By more trees, which have learned from many more pairs. */
const likenessBy = readRelation(likeness as RelationTrees);

/**
 * The hint about an earlier memory when a later one is saved; null when there is nothing to say, for
 * example when both are merely about the same subject.
 * @param alike 0 to 1, by `meaningScore`
 * @param relate by other trees than the fitted ones, while trees are fitted
 */
export function hintOf(
  earlier: HasContent,
  later: HasContent,
  alike: number,
  relate = relationOf,
): HintKind | null {
  const [one, other] = [earlier.content, later.content];
  if (!isPlain(one, other)) return alike >= SAME ? "near" : null;
  const [a, b] = [exactFactOf(earlier), exactFactOf(later)];
  const { about, changed, difference } = relate(a, b, alike);
  const { onlyEarlier, onlyLater } = difference;
  const isOpposite =
    a.negates !== b.negates && onlyEarlier.length + onlyLater.length <= MAX_OPPOSITE_WORDS;
  const isOther = isOpposite || isReplaced(difference) || haveOtherCode(one, other);
  const kind = isOther || changed > CLEARLY ? "changed" : "near";
  return about >= LEAST[kind] ? kind : null;
}

/**
 * Whether two memories say the same, so that one of them is enough. Never across a different number, name, day,
 * identifier or a negation.
 * @param alike 0 to 1, by `meaningScore`
 */
export function isRestatement(
  earlier: HasContent,
  later: HasContent,
  alike: number,
  relate = relationOf,
): boolean {
  const [one, other] = [earlier.content, later.content];
  if (alike < SAME && !isPlain(one, other)) return false;
  if (Math.max(one.length, other.length) > MAX_FACT_LENGTH) return one.trim() === other.trim();
  if (!isPlain(one, other)) return shareOfPieces(one, other) >= SAME_PIECES;
  const [a, b] = [exactFactOf(earlier), exactFactOf(later)];
  const { about, changed, difference } = relate(a, b, alike);
  if (hasOtherValue(a, b, difference) || haveOtherCode(one, other)) return false;
  if (difference.regions.length === 0) return true;
  if (about < LEAST.near || changed > MAX_CHANGED) return false;
  return likenessBy(a, b, alike).about >= LEAST_MERGED;
}

/** The likeness below which memories are not compared, to save time. */
export const LEAST_ALIKE = 0.4;
/**
 * The least chances that a memory says the same as another one, or changes its fact, to propose it. Chosen by
 * `test/eval/fit-relation.ts likeness`, so that few proposals are wrong.
 */
const LEAST_PROPOSED = { same: 0.7, changed: 0.7 };

/**
 * What the later one of two memories that somebody saved is to the earlier one, for proposals to tidy: it says the same,
 * or it changes its fact. Null in doubt, and so more often than a hint is, which its reader can judge at once.
 * @param alike 0 to 1, by `meaningScore`
 * @param relate by other trees than the fitted ones, and from other chances, while trees are fitted
 */
export function likenessOf(
  earlier: HasContent,
  later: HasContent,
  alike: number,
  relate = likenessBy,
  least = LEAST_PROPOSED,
): "same" | "changed" | null {
  if (alike < LEAST_ALIKE) return null;
  const [one, other] = [earlier.content, later.content];
  if (!isPlain(one, other)) return isRestatement(earlier, later, alike) ? "same" : null;
  const [a, b] = [exactFactOf(earlier), exactFactOf(later)];
  const { about, changed, difference } = relate(a, b, alike);
  const isOther = hasOtherValue(a, b, difference) || haveOtherCode(one, other);
  if (difference.regions.length === 0 && !isOther) return "same";
  const [isAbout, isChanged] = [chanceOf(about), chanceOf(changed)];
  if (!isOther && isAbout * (1 - isChanged) >= least.same) return "same";
  return isAbout * isChanged >= least.changed ? "changed" : null;
}

function isPlain(earlier: string, later: string): boolean {
  return (
    Math.max(earlier.length, later.length) <= MAX_FACT_LENGTH && !UNSPACED.test(earlier + later)
  );
}

/** Whether each of two texts has a number, name, day or identifier in place of one that the other has. */
function isReplaced({ onlyEarlier, onlyLater }: Difference): boolean {
  return VALUES.some(
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
 * @param areCurrent whether all hold, although some may have been superseded after the moment of the search
 * @returns results with the ids of the others in `alike`
 */
export function collapse<Result extends Restated>(
  results: readonly Result[],
  vectors: ReadonlyMap<string, Float32Array>,
  cosines: EmbeddingModel["cosines"],
  areCurrent = false,
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
    const shown = group.toSorted((a, b) => byWorth(a, b, areCurrent))[0];
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
