import { contentWords, stemOf } from "./content-words.ts";
import { CHANGE } from "./fact-text.ts";

/** How an earlier memory relates to a new one: it says nearly the same, or the new one changes its fact. */
export type HintKind = "near" | "changed";

/**
 * Two weights of each sign: for mentioning the earlier memory at all, and for saying that its fact has
 * changed. Fitted by `test/eval/fit-hints.ts`.
 */
export const SIGNS = [
  /** How alike the two are in meaning, 0 to 1, and how much more than usual for one subject. */
  ["alike", 4.5, -5.24],
  ["veryAlike", 13.76, -20.54],
  /** The share of the words of the shorter one that both have, and of all words. */
  ["shared", 3.15, 0.26],
  ["sharedOfAll", 1.41, -1.04],
  /** Whether the later one has a word that announces a change. */
  ["changed", 2.38, 2.28],
  /** Whether the first word of either, usually its subject, is in the other one. */
  ["firstOfEarlier", 1.05, -0.14],
  ["firstOfLater", 0.43, -0.56],
  ["sameFirst", -0.81, 1.58],
  /** The share of equal words at the end: a high one means that the subjects differ. */
  ["sameEnd", -4.46, -2.17],
  /** Names in both, up to two. */
  ["names", 0.93, -0.74],
  /** Whether both have numbers: with none in common, and with at least one in common. */
  ["otherNumbers", 0.74, -0.22],
  ["sameNumbers", -0.95, -0.56],
  /** Whether the texts differ in a single word. */
  ["oneWord", 1.8, 1.9],
] as const;
const BASE = { told: -6, changed: 6.8 };

/** The likeness from which on texts say the same if their words cannot be compared: a cosine of 0.85. */
const SAME = 0.7;
/** Length from which on a text is about more than one fact, in UTF-16 units. */
const LONG = 400;
const MOST_NAMES = 2;

/** Names. The first word of a text does not count, since it always has a capital. */
const NAME = /(?<=\S\s+)\p{Lu}[\p{L}\p{N}]*/gu;
const NUMBER =
  /\p{N}+(?:[.:,]\p{N}+)*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b/giu;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * The hint about an earlier memory when a later one is saved; null when there is nothing to say, for
 * example when both are merely about the same subject.
 * @param alike 0 to 1, by `meaningScore`
 */
export function hintOf(earlier: string, later: string, alike: number): HintKind | null {
  const isPlain = Math.max(earlier.length, later.length) <= LONG && !UNSPACED.test(earlier + later);
  if (!isPlain) return alike >= SAME ? "near" : null;
  const signs = signsOf(earlier, later, alike);
  let [told, changed] = [BASE.told, BASE.changed];
  for (const [at, [, forTold, forChanged]] of SIGNS.entries()) {
    told += forTold * (signs[at] ?? 0);
    changed += forChanged * (signs[at] ?? 0);
  }
  if (told < 0) return null;
  return changed > 0 ? "changed" : "near";
}

/** The signs of two texts, in the order of `SIGNS`. */
export function signsOf(earlier: string, later: string, alike: number): number[] {
  const [a, b] = [read(earlier), read(later)];
  const both = [...a.set].filter((stem) => b.set.has(stem)).length;
  const fewer = Math.max(1, Math.min(a.set.size, b.set.size));
  const all = Math.max(1, a.set.size + b.set.size - both);
  const [firstOfA = "", firstOfB = ""] = [a.stems[0], b.stems[0]];
  const sameNumbers = [...a.numbers].some((number) => b.numbers.has(number));
  const flag = (holds: boolean) => (holds ? 1 : 0);
  return [
    alike,
    Math.max(0, alike - SAME),
    both / fewer,
    both / all,
    flag(CHANGE.test(later)),
    flag(b.set.has(firstOfA)),
    flag(a.set.has(firstOfB)),
    flag(firstOfA === firstOfB),
    sameAtEnd(a.stems, b.stems) / fewer,
    Math.min(MOST_NAMES, [...a.names].filter((name) => b.set.has(name)).length),
    flag(a.numbers.size > 0 && b.numbers.size > 0 && !sameNumbers),
    flag(sameNumbers),
    flag(isOneWord(a.stems, b.stems)),
  ];
}

function read(text: string) {
  const stems = contentWords(text).map(stemOf);
  const found = (pattern: RegExp) => (text.match(pattern) ?? []).map((word) => word.toLowerCase());
  return {
    stems,
    set: new Set(stems),
    names: new Set(found(NAME).map(stemOf)),
    numbers: new Set(found(NUMBER)),
  };
}

/** Number of equal words at the end, after the equal words at the beginning. */
function sameAtEnd(a: readonly string[], b: readonly string[]): number {
  let first = 0;
  while (first < a.length && first < b.length && a[first] === b[first]) first++;
  const most = Math.min(a.length, b.length) - first;
  let last = 0;
  while (last < most && a.at(-1 - last) === b.at(-1 - last)) last++;
  return last;
}

function isOneWord(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length || a.length < 2) return false;
  return a.filter((stem, at) => stem !== b[at]).length === 1;
}
