import { type Difference, ofKind } from "./difference.ts";
import { type FactMemory, type FactText, factOf, readFact } from "./fact-text.ts";
import { relationOf } from "./relation.ts";

type HasContent = Pick<FactMemory, "content">;

/** How an earlier memory relates to a new one: it says nearly the same, or the new one changes its fact. */
export type HintKind = "near" | "changed";

/** The likeness from which on texts say the same if their words cannot be compared: a cosine of 0.85. */
const SAME = 0.7;
/** Length from which on a text is about more than one fact, in UTF-16 units. */
const LONG = 400;
/** The least log-odds of a hint, so that few hints are wrong; chosen by `test/eval/fit-relation.ts`. */
const LEAST = 0.5;
/** The log-odds from which on a text without another value has changed a fact rather than said it in other words. */
const CLEARLY = 1;
/** Words that only one of two texts has that say the opposite. */
const MOST_OF_OPPOSITE = 1;
/** The log-odds up to which a text may have changed a fact and still count as a restatement. */
const MOST_CHANGED = 0.3;
/** Letters of the pieces by which texts are compared, and the share of them that restatements have in common. */
const PIECE = 4;
const SAME_PIECES = 0.72;
/** Kinds of words that are values: another one says something else. */
const VALUES = ["number", "day", "code", "name"] as const;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * The hint about an earlier memory when a later one is saved; null when there is nothing to say, for
 * example when both are merely about the same subject.
 * @param alike 0 to 1, by `meaningScore`
 */
export function hintOf(earlier: string, later: string, alike: number): HintKind | null {
  if (!isPlain(earlier, later)) return alike >= SAME ? "near" : null;
  const [a, b] = [readFact(earlier), readFact(later)];
  const { about, changed, difference } = relationOf(a, b, alike);
  if (about < LEAST) return null;
  const { onlyEarlier, onlyLater } = difference;
  const isOpposite =
    a.negates !== b.negates && onlyEarlier.length + onlyLater.length <= MOST_OF_OPPOSITE;
  const isOther = isOpposite || isReplaced(difference);
  return isOther || changed > CLEARLY ? "changed" : "near";
}

/**
 * Whether two memories say the same, so that one of them is enough. Never across a different number, name, day,
 * identifier or a negation.
 * @param alike 0 to 1, by `meaningScore`
 */
export function isRestatement(earlier: HasContent, later: HasContent, alike: number): boolean {
  const [one, other] = [earlier.content, later.content];
  if (alike < SAME && !isPlain(one, other)) return false;
  if (Math.max(one.length, other.length) > LONG) return one.trim() === other.trim();
  if (!isPlain(one, other)) return shareOfPieces(one, other) >= SAME_PIECES;
  const [a, b] = [factOf(earlier), factOf(later)];
  const { about, changed, difference } = relationOf(a, b, alike);
  if (hasOtherValue(a, b, difference)) return false;
  if (difference.regions.length === 0) return true;
  return about >= LEAST && changed <= MOST_CHANGED;
}

function isPlain(earlier: string, later: string): boolean {
  return Math.max(earlier.length, later.length) <= LONG && !UNSPACED.test(earlier + later);
}

/** Whether each of two texts has a number, name, day or identifier in place of one that the other has. */
function isReplaced({ onlyEarlier, onlyLater }: Difference): boolean {
  return VALUES.some(
    (kind) => ofKind(onlyEarlier, kind).length > 0 && ofKind(onlyLater, kind).length > 0,
  );
}

/** Whether one of two texts has a number, name, day or identifier that the other lacks, or only one is negated. */
function hasOtherValue(a: FactText, b: FactText, { onlyEarlier, onlyLater }: Difference): boolean {
  const values = [...onlyEarlier, ...onlyLater];
  return a.negates !== b.negates || ofKind(values, ...VALUES).length > 0;
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
