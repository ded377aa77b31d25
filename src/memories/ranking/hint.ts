import { cosineOf, type EmbeddingModel } from "../../embedding/embedder.ts";
import { STOP_WORDS } from "../../text/stop-words.ts";
import { wasCaptured } from "../model/filter.ts";
import type { MemoryRow } from "../model/rows.ts";
import {
  exactFactOf,
  type FactMemory,
  type FactText,
  MAX_FACT_LENGTH,
  UNSPACED,
} from "./fact-text.ts";
import learned from "./relation.json" with { type: "json" };
import {
  type Difference,
  ofKind,
  type RelationTrees,
  readRelation,
  subjectSigns,
} from "./relation.ts";
import { meaningScore } from "./relevance.ts";

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
/** Letters of the pieces by which texts are compared, and the share of them that restatements have in common. */
const PIECE = 4;
const SAME_PIECES = 0.72;
/** Kinds of words that are values: another one says something else. */
const VALUES = ["number", "day", "code", "name"] as const;
const CODE_SPAN = /`[^`]+`/g;

const relationOf = readRelation(learned as RelationTrees);

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
  return about >= LEAST.near && changed <= MAX_CHANGED;
}

/** The likeness below which memories are not compared, to save time. */
export const LEAST_ALIKE = 0.4;
/** The least log-odds that two texts are about one fact, to propose that one supersedes the other. */
const LEAST_PROPOSED = 1.25;
/**
 * The likeness from which on the words that each of two texts has and the other lacks may be another wording. Below it
 * they may name another subject, as in "the billing service" and "the ledger service".
 */
const REWORDED = 0.8;

/**
 * What is enough of texts about the same subject: their likeness, and the log-odds that they are about one fact, if they
 * differ by a value alone or if the later one takes back what was said.
 */
const SAME_SUBJECT = { alike: 0.5, value: -0.5, retracts: 0.5 };
/** Letters that the forms of a word have in common. */
const FORM = 4;

/**
 * What the later one of two memories that somebody saved is to the earlier one, for proposals to tidy: it says the same,
 * or it changes its fact. Null in doubt, and so more often than a hint is, which its reader can judge at once.
 * @param alike 0 to 1, by `meaningScore`
 */
export function likenessOf(
  earlier: HasContent,
  later: HasContent,
  alike: number,
): "same" | "changed" | null {
  if (alike < LEAST_ALIKE) return null;
  const isSame = isRestatement(earlier, later, alike);
  if (!isPlain(earlier.content, later.content)) return isSame ? "same" : null;
  const [a, b] = [exactFactOf(earlier), exactFactOf(later)];
  const { about, changed, difference } = relationOf(a, b, alike);
  const { onlyEarlier, onlyLater } = difference;
  const isNear = alike >= SAME_SUBJECT.alike && haveSameSubject(a, b);
  if (isNear && about >= SAME_SUBJECT.value && hasOnlyOtherValue(a, b, difference))
    return "changed";
  if (isNear && about >= SAME_SUBJECT.retracts && b.retracts && changed > 0) return "changed";
  if ([onlyEarlier, onlyLater].every(hasContentWord) && alike < REWORDED) return null;
  if (isSame) return "same";
  if (about < LEAST_PROPOSED || (!b.retracts && isOtherWithSameValue(a, difference))) return null;
  return hintOf(earlier, later, alike) === "changed" ? "changed" : null;
}

/** Whether one word of a text is another one, and its value is the same: the other word names another subject. */
function isOtherWithSameValue(a: FactText, { onlyEarlier, onlyLater }: Difference): boolean {
  const isWord = (words: Difference["onlyEarlier"]) =>
    words.length === 1 && words[0]?.kind === "word";
  return isWord(onlyEarlier) && isWord(onlyLater) && ofKind(a.tokens, ...VALUES).length > 0;
}

function haveSameSubject(a: FactText, b: FactText): boolean {
  const signs = subjectSigns(a, b);
  const other = signs["subject differs"] + signs["other relatives"] + signs["other owner"];
  return other === 0 && signs["subject extra"] <= 1;
}

/**
 * Whether two texts differ by a value alone: another number, name, day or identifier. Forms of one word
 * are no difference, as in "listens" and "is listening".
 */
function hasOnlyOtherValue(a: FactText, b: FactText, difference: Difference): boolean {
  const { onlyEarlier, onlyLater } = difference;
  if (!isReplaced(difference) || a.negates !== b.negates) return false;
  const isForm = (word: string, others: Difference["onlyEarlier"]) =>
    FUNCTION_WORDS.has(word) || others.some((other) => other.word.startsWith(word.slice(0, FORM)));
  const areForms = (words: Difference["onlyEarlier"], others: Difference["onlyEarlier"]) =>
    ofKind(words, "word").every(({ word }) => isForm(word, others));
  return areForms(onlyEarlier, onlyLater) && areForms(onlyLater, onlyEarlier);
}

const FUNCTION_WORDS = new Set(STOP_WORDS);

/** Whether one of the words says something and is no value. */
function hasContentWord(words: Difference["onlyEarlier"]): boolean {
  return ofKind(words, "word").some(({ word }) => !FUNCTION_WORDS.has(word));
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
