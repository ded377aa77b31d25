import type { FactText, FactToken, TokenKind } from "./fact-text.ts";
import { readTrees, type Trees } from "./trees.ts";

/** A place where two texts differ: what one of them has there, and the other. */
interface Region {
  earlier: readonly FactToken[];
  later: readonly FactToken[];
  /** Whether no common word comes before it, or after it. */
  isStart: boolean;
  isEnd: boolean;
}

/** How the words of two texts differ. */
export interface Difference {
  /** The number of words that both have, in any order, and in the same order. */
  both: number;
  inOrder: number;
  /** Words that only one of them has. */
  onlyEarlier: readonly FactToken[];
  onlyLater: readonly FactToken[];
  regions: readonly Region[];
}

/** Compares the words of two texts. */
export function differenceOf(earlier: FactText, later: FactText): Difference {
  const matched = longestCommon(earlier.tokens, later.tokens);
  const onlyEarlier = earlier.tokens.filter(({ key }) => !later.keys.has(key));
  const onlyLater = later.tokens.filter(({ key }) => !earlier.keys.has(key));
  let both = 0;
  for (const key of earlier.keys) if (later.keys.has(key)) both++;
  return {
    both,
    inOrder: matched.length,
    onlyEarlier,
    onlyLater,
    regions: regionsOf(earlier, later, matched),
  };
}

/** The regions between the words in common. A word that the other text has elsewhere is in none. */
function regionsOf(
  earlier: FactText,
  later: FactText,
  matched: readonly (readonly [number, number])[],
): Region[] {
  const regions: Region[] = [];
  const ends = [...matched, [earlier.tokens.length, later.tokens.length] as const];
  let [fromEarlier, fromLater] = [0, 0];
  for (const [at, [toEarlier, toLater]] of ends.entries()) {
    const region = {
      earlier: earlier.tokens
        .slice(fromEarlier, toEarlier)
        .filter(({ key }) => !later.keys.has(key)),
      later: later.tokens.slice(fromLater, toLater).filter(({ key }) => !earlier.keys.has(key)),
      isStart: at === 0,
      isEnd: at === ends.length - 1,
    };
    if (region.earlier.length + region.later.length > 0) regions.push(region);
    [fromEarlier, fromLater] = [toEarlier + 1, toLater + 1];
  }
  return regions;
}

/** The places of the words of a longest common subsequence in both texts. */
function longestCommon(
  earlier: readonly FactToken[],
  later: readonly FactToken[],
): [number, number][] {
  const width = later.length + 1;
  const lengths = new Uint8Array((earlier.length + 1) * width);
  for (let a = earlier.length - 1; a >= 0; a--) {
    for (let b = later.length - 1; b >= 0; b--) {
      lengths[a * width + b] =
        earlier[a]?.key === later[b]?.key
          ? 1 + (lengths[(a + 1) * width + b + 1] ?? 0)
          : Math.max(lengths[(a + 1) * width + b] ?? 0, lengths[a * width + b + 1] ?? 0);
    }
  }
  const matched: [number, number][] = [];
  for (let a = 0, b = 0; a < earlier.length && b < later.length; ) {
    if (earlier[a]?.key === later[b]?.key) matched.push([a++, b++]);
    else if ((lengths[(a + 1) * width + b] ?? 0) >= (lengths[a * width + b + 1] ?? 0)) a++;
    else b++;
  }
  return matched;
}

/** The tokens of a kind. */
export function ofKind(tokens: readonly FactToken[], ...kinds: readonly TokenKind[]): FactToken[] {
  return tokens.filter(({ kind }) => kinds.includes(kind));
}

const MAX_REGIONS = 3;
const MAX_WORDS = 4;
/** The likeness from which on texts usually say the same: a cosine of 0.85. */
const VERY_ALIKE = 0.7;

/** Trees of what a later text is to an earlier one. */
export interface RelationTrees {
  about: Trees;
  changed: Trees;
}

/**
 * Returns a function that tells what a later text is to an earlier one, as two log-odds: whether it is about the same
 * fact at all, and, if so, whether it says something else about it.
 */
export function readRelation(trees: RelationTrees) {
  const [aboutOf, changedOf] = [readTrees(trees.about), readTrees(trees.changed)];
  /** @param alike how alike the two are in meaning, 0 to 1, by `meaningScore` */
  return (earlier: FactText, later: FactText, alike: number) => {
    const difference = differenceOf(earlier, later);
    const signs = relationSigns(earlier, later, { alike, difference });
    const values = Float64Array.from(Object.values(signs));
    return { about: aboutOf(values), changed: changedOf(values), difference };
  };
}

/** The signs by which a relation is recognized. Their order counts: the trees name a sign by its number. */
export function relationSigns(
  earlier: FactText,
  later: FactText,
  { alike, difference }: { alike: number; difference: Difference },
) {
  const { both, inOrder, onlyEarlier, onlyLater, regions } = difference;
  const [a, b] = [earlier.keys.size, later.keys.size];
  const replaced = regions.filter((one) => one.earlier.length > 0 && one.later.length > 0);
  const [only] = regions.length === 1 ? replaced : [];
  const start = replaced.some(({ isStart }) => isStart);
  const end = replaced.some(({ isEnd }) => isEnd);
  const first = regions.find(({ isStart }) => isStart);
  const [firstOfEarlier, firstOfLater] = [earlier.tokens[0]?.key ?? "", later.tokens[0]?.key ?? ""];
  const [lastOfEarlier, lastOfLater] = [earlier.tokens.at(-1)?.key, later.tokens.at(-1)?.key];
  const differ = (kind: "number" | "day" | "code" | "name") =>
    Math.min(ofKind(onlyEarlier, kind).length, ofKind(onlyLater, kind).length, 2);
  const shared = (kind: "number" | "name") =>
    Math.min(2, ofKind(earlier.tokens, kind).filter(({ key }) => later.keys.has(key)).length);
  const isPair = only?.earlier.length === 1 && only.later.length === 1;
  const isValue =
    isPair && only.earlier[0]?.kind !== "word" && only.earlier[0]?.kind === only.later[0]?.kind;
  return {
    alike,
    "very alike": Math.max(0, alike - VERY_ALIKE),
    "alike and retracts": later.retracts ? alike : 0,
    "alike and changed": later.changed ? alike : 0,
    shared: both / Math.max(1, Math.min(a, b)),
    "shared of all": both / Math.max(1, a + b - both),
    "in order": inOrder / Math.max(1, both),
    retracts: flag(later.retracts),
    changed: flag(later.changed),
    "negation differs": flag(earlier.negates !== later.negates),
    "first of earlier": flag(later.keys.has(firstOfEarlier)),
    "first of later": flag(earlier.keys.has(firstOfLater)),
    "same first": flag(firstOfEarlier === firstOfLater),
    "same last": flag(lastOfEarlier === lastOfLater),
    "one region": flag(regions.length === 1),
    regions: Math.min(MAX_REGIONS, replaced.length),
    "start replaced": flag(start),
    "end replaced": flag(end),
    "start and end replaced": flag(start && end && regions.length > 1),
    "only start replaced": flag(only?.isStart === true),
    "only end replaced": flag(only?.isEnd === true && !only.isStart),
    "word put first": flag(
      first !== undefined &&
        regions.length > 1 &&
        first.earlier.length !== first.later.length &&
        !start,
    ),
    added: Math.min(MAX_WORDS, onlyLater.length),
    "left out": Math.min(MAX_WORDS, onlyEarlier.length),
    "other numbers": differ("number"),
    "same numbers": shared("number"),
    "other days": differ("day"),
    "other codes": differ("code"),
    "other names": differ("name"),
    "same names": shared("name"),
    "one value for another": flag(isValue),
    "one word for another": flag(isPair && !isValue),
    "no difference": flag(regions.length === 0),
    length: Math.log2(Math.max(2, Math.max(a, b))),
    "lengths differ": Math.abs(Math.log2((a + 1) / (b + 1))),
    asks: flag(earlier.asks || later.asks),
    reports: flag(earlier.reports !== later.reports),
    "other speaker": flag(earlier.speaker !== later.speaker),
    ...subjectSigns(earlier, later),
    "other letters": flag(
      [onlyEarlier, onlyLater].every((only) =>
        only.some(({ key, kind }) => kind === "code" && key.length <= 2),
      ),
    ),
    ...placeSigns("first", replaced[0]),
    ...placeSigns("last", replaced.length > 1 ? replaced.at(-1) : undefined),
    ...countSigns(earlier, later, difference),
  };
}

const wordSet = (words: string) => new Set(words.split(" "));
const ARTICLES = wordSet(
  "the this that these those our my his her their its your der die das dem den des la le el los las o os",
);
const PREPOSITIONS = wordSet(
  "in at on by for with to of from into via under through per until till since im am bei mit von für um bis seit auf en con por para de em com à dans avec",
);
const BEING = wordSet("is are was were be has have uses use ist sind hat haben es tiene é tem est");

/** What stands before or after a word: nothing, or a word of some kind. */
type Neighbour = "nothing" | "an article" | "a" | "a preposition" | "is" | "a word";
const BEFORE: readonly Neighbour[] = ["nothing", "an article", "a preposition", "is", "a"];
const AFTER: readonly Neighbour[] = ["nothing", "a preposition", "is", "a word"];

function neighbourOf(word: string): Neighbour {
  if (word === "") return "nothing";
  if (word === "a" || word === "an") return "a";
  if (ARTICLES.has(word)) return "an article";
  if (PREPOSITIONS.has(word)) return "a preposition";
  return BEING.has(word) ? "is" : "a word";
}

/**
 * What stands around a place where one text has other words than the other one. It tells whether they name what the texts
 * are about ("the billing service") or what is said about it ("in Go").
 */
function placeSigns(name: string, region: Region | undefined): Record<string, number> {
  const around = (tokens: readonly FactToken[] = []) => {
    const [first, last] = [tokens[0], tokens.at(-1)];
    if (!first || !last) return { before: null, after: null };
    const after = neighbourOf(last.after);
    const isArticle = after === "an article" || after === "a";
    return { before: neighbourOf(first.before), after: isArticle ? "a word" : after };
  };
  const [one, other] = [around(region?.earlier), around(region?.later)];
  return Object.fromEntries([
    ...BEFORE.map((kind) => [`${name} after ${kind}`, flag(one.before === kind)]),
    ...AFTER.map((kind) => [`${name} before ${kind}`, flag(one.after === kind)]),
    [`${name} alike`, flag(one.before === other.before && one.after === other.after)],
  ]);
}

/** How many words and values both texts have, or only one of them. */
function countSigns(earlier: FactText, later: FactText, { onlyEarlier, onlyLater }: Difference) {
  const values = earlier.tokens.filter(({ key, kind }) => kind !== "word" && later.keys.has(key));
  const [left, added] = [ofKind(onlyEarlier, "word"), ofKind(onlyLater, "word")];
  const begins = (words: readonly FactToken[]) => words.filter(({ before }) => before === "");
  return {
    "left out at a start": begins(left).length,
    "added at a start": begins(added).length,
    "same values": Math.min(3, values.length),
    "same exact values": Math.min(2, ofKind(values, "number", "day", "code").length),
    "words left out": Math.min(MAX_WORDS, left.length),
    "words added": Math.min(MAX_WORDS, added.length),
    "values left out": Math.min(3, onlyEarlier.length - left.length),
    "values added": Math.min(3, onlyLater.length - added.length),
    "other words": flag(left.length > 0 && added.length > 0),
  };
}

/** What the subjects of two texts have in common, and the rest of them. */
export function subjectSigns(earlier: FactText, later: FactText) {
  const [a, b] = [earlier.subject, later.subject];
  const both = [...a].filter((key) => b.has(key)).length;
  const all = a.size + b.size - both;
  const rest = (text: FactText) => [...text.keys].filter((key) => !text.subject.has(key));
  const [restOfEarlier, restOfLater] = [rest(earlier), rest(later)];
  const extra =
    [...a].filter((key) => !later.keys.has(key)).length +
    [...b].filter((key) => !earlier.keys.has(key)).length;
  const restShared = restOfEarlier.filter((key) => later.keys.has(key)).length;
  const others = [...earlier.relatives, ...later.relatives].filter(
    (key) => !earlier.keys.has(key) || !later.keys.has(key),
  );
  return {
    "subject shared": all === 0 ? 0.5 : both / all,
    "subject differs": flag(
      [...a].some((key) => !later.keys.has(key)) && [...b].some((key) => !earlier.keys.has(key)),
    ),
    "same subject": flag(all > 0 && both === all),
    "rest shared": restShared / Math.max(1, Math.min(restOfEarlier.length, restOfLater.length)),
    "other relatives": Math.min(2, others.length),
    "other owner": flag(earlier.isOwn !== later.isOwn),
    "subject extra": Math.min(MAX_WORDS, extra),
    "notes of other subjects": flag(earlier.isNote && later.isNote && both < all),
  };
}

/** A sign that holds or does not. */
export function flag(holds: boolean): number {
  return holds ? 1 : 0;
}
