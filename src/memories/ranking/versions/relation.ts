import { countOf, differenceOf, ofKind, type Region } from "../difference.ts";
import type { FactText, FactToken, TokenKind } from "../fact-text.ts";
import { createSignReader, flag, readTrees, type Signs, type Trees } from "../trees.ts";

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
  const readSigns = createSignReader(RELATION_SIGNS);
  return (pair: TextPair) => {
    const signs = readSigns(pair);
    return { about: aboutOf(signs), changed: changedOf(signs) };
  };
}

/** Two texts, and what several signs of their relation need. */
type TextPair = ReturnType<typeof readPair>;

/** @param alike how alike the two are in meaning, 0 to 1, by `meaningScore` */
export function readPair(earlier: FactText, later: FactText, alike: number) {
  const { both, inOrder, onlyEarlier, onlyLater, regions } = differenceOf(earlier, later);
  const replaced = regions.filter((one) => one.earlier.length > 0 && one.later.length > 0);
  const only = regions.length === 1 ? replaced[0] : undefined;
  const isOneForOne = only?.earlier.length === 1 && only.later.length === 1;
  const [one, other] = [only?.earlier[0]?.kind, only?.later[0]?.kind];
  const isValue = isOneForOne && one !== "word" && one === other;
  return {
    earlier,
    later,
    alike,
    both,
    inOrder,
    onlyEarlier,
    onlyLater,
    regions,
    replaced,
    only,
    /** What stands in place of a single word: a value of the same kind, or another word. */
    replacement: isValue ? "value" : isOneForOne ? "word" : null,
    isStartReplaced: replaced.some(({ isStart }) => isStart),
    isEndReplaced: replaced.some(({ isEnd }) => isEnd),
    subjects: compareSubjects(earlier, later),
    wordsLeftOut: ofKind(onlyEarlier, "word"),
    wordsAdded: ofKind(onlyLater, "word"),
    sameValues: earlier.tokens.filter(({ key, kind }) => kind !== "word" && later.keys.has(key)),
    places: { first: surroundingsOf(replaced[0]), last: surroundingsOf(replaced.slice(1).at(-1)) },
  };
}

/** How many words of a kind each text has that the other lacks, up to two. */
const differ = (kind: TokenKind) => (pair: TextPair) =>
  Math.min(ofKind(pair.onlyEarlier, kind).length, ofKind(pair.onlyLater, kind).length, 2);
const shared = (kind: TokenKind) => (pair: TextPair) =>
  Math.min(
    2,
    ofKind(pair.earlier.tokens, kind).filter(({ key }) => pair.later.keys.has(key)).length,
  );
const firstKey = ({ tokens: [first] }: FactText) => first?.key ?? "";

/** What the subjects of two texts have in common, and the rest of them. */
export const SUBJECT_SIGNS: Signs<{ subjects: ReturnType<typeof compareSubjects> }> = {
  "subject shared": ({ subjects: { both, all } }) => (all === 0 ? 0.5 : both / all),
  "subject differs": ({ subjects }) => flag(subjects.areOthers),
  "same subject": ({ subjects: { both, all } }) => flag(all > 0 && both === all),
  "rest shared": ({ subjects }) => subjects.restShared,
  "other relatives": ({ subjects }) => subjects.otherRelatives,
  "other owner": ({ subjects }) => flag(subjects.hasOtherOwner),
  "subject extra": ({ subjects }) => subjects.extra,
  "notes of other subjects": ({ subjects: { areNotes, both, all } }) =>
    flag(areNotes && both < all),
};

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

/** What stands around a place where one text has other words than the other one. */
function surroundingsOf(region: Region | undefined) {
  const around = (tokens: readonly FactToken[] = []) => {
    const [first, last] = [tokens[0], tokens.at(-1)];
    if (!first || !last) return { before: null, after: null };
    const after = neighbourOf(last.after);
    const isArticle = after === "an article" || after === "a";
    return { before: neighbourOf(first.before), after: isArticle ? "a word" : after };
  };
  const [one, other] = [around(region?.earlier), around(region?.later)];
  const areAlike = one.before === other.before && one.after === other.after;
  return { ...one, areAlike };
}

/** Such signs tell whether the words name what the texts are about ("the billing service") or what is said about it ("in Go"). */
function placeSigns(name: "first" | "last"): Signs<TextPair> {
  return Object.fromEntries([
    ...BEFORE.map((kind) => [
      `${name} after ${kind}`,
      ({ places }: TextPair) => flag(places[name].before === kind),
    ]),
    ...AFTER.map((kind) => [
      `${name} before ${kind}`,
      ({ places }: TextPair) => flag(places[name].after === kind),
    ]),
    [`${name} alike`, ({ places }: TextPair) => flag(places[name].areAlike)],
  ]);
}

function compareSubjects(earlier: FactText, later: FactText) {
  const [a, b] = [earlier.subject, later.subject];
  const both = countOf(a, (key) => b.has(key));
  const onlyEarlier = countOf(a, (key) => !later.keys.has(key));
  const onlyLater = countOf(b, (key) => !earlier.keys.has(key));
  const restOf = ({ keys, subject }: FactText) => countOf(keys, (key) => !subject.has(key));
  const isShared = (key: string) => !a.has(key) && later.keys.has(key);
  const rest = Math.max(1, Math.min(restOf(earlier), restOf(later)));
  const others = [...earlier.relatives, ...later.relatives].filter(
    (key) => !earlier.keys.has(key) || !later.keys.has(key),
  );
  return {
    both,
    all: a.size + b.size - both,
    areOthers: onlyEarlier > 0 && onlyLater > 0,
    extra: Math.min(MAX_WORDS, onlyEarlier + onlyLater),
    restShared: countOf(earlier.keys, isShared) / rest,
    otherRelatives: Math.min(2, others.length),
    hasOtherOwner: earlier.isOwn !== later.isOwn,
    areNotes: earlier.isNote && later.isNote,
  };
}

/** The signs by which a relation is recognized. */
export const RELATION_SIGNS: Signs<TextPair> = {
  alike: ({ alike }) => alike,
  "very alike": ({ alike }) => Math.max(0, alike - VERY_ALIKE),
  "alike and retracts": ({ alike, later }) => (later.retracts ? alike : 0),
  "alike and changed": ({ alike, later }) => (later.changed ? alike : 0),
  shared: ({ both, earlier, later }) =>
    both / Math.max(1, Math.min(earlier.keys.size, later.keys.size)),
  "shared of all": ({ both, earlier, later }) =>
    both / Math.max(1, earlier.keys.size + later.keys.size - both),
  "in order": ({ both, inOrder }) => inOrder / Math.max(1, both),
  retracts: ({ later }) => flag(later.retracts),
  changed: ({ later }) => flag(later.changed),
  "negation differs": ({ earlier, later }) => flag(earlier.negates !== later.negates),
  "first of earlier": ({ earlier, later }) => flag(later.keys.has(firstKey(earlier))),
  "first of later": ({ earlier, later }) => flag(earlier.keys.has(firstKey(later))),
  "same first": ({ earlier, later }) => flag(firstKey(earlier) === firstKey(later)),
  "same last": ({ earlier, later }) =>
    flag(earlier.tokens.at(-1)?.key === later.tokens.at(-1)?.key),
  "one region": ({ regions }) => flag(regions.length === 1),
  regions: ({ replaced }) => Math.min(MAX_REGIONS, replaced.length),
  "start replaced": ({ isStartReplaced }) => flag(isStartReplaced),
  "end replaced": ({ isEndReplaced }) => flag(isEndReplaced),
  "start and end replaced": ({ isStartReplaced, isEndReplaced, regions }) =>
    flag(isStartReplaced && isEndReplaced && regions.length > 1),
  "only start replaced": ({ only }) => flag(only?.isStart === true),
  "only end replaced": ({ only }) => flag(only?.isEnd === true && !only.isStart),
  "word put first": ({ regions, isStartReplaced }) => {
    const first = regions.find(({ isStart }) => isStart);
    const isPut = first !== undefined && first.earlier.length !== first.later.length;
    return flag(isPut && regions.length > 1 && !isStartReplaced);
  },
  added: ({ onlyLater }) => Math.min(MAX_WORDS, onlyLater.length),
  "left out": ({ onlyEarlier }) => Math.min(MAX_WORDS, onlyEarlier.length),
  "other numbers": differ("number"),
  "same numbers": shared("number"),
  "other days": differ("day"),
  "other codes": differ("code"),
  "other names": differ("name"),
  "same names": shared("name"),
  "one value for another": ({ replacement }) => flag(replacement === "value"),
  "one word for another": ({ replacement }) => flag(replacement === "word"),
  "no difference": ({ regions }) => flag(regions.length === 0),
  length: ({ earlier, later }) => Math.log2(Math.max(2, earlier.keys.size, later.keys.size)),
  "lengths differ": ({ earlier, later }) =>
    Math.abs(Math.log2((earlier.keys.size + 1) / (later.keys.size + 1))),
  asks: ({ earlier, later }) => flag(earlier.asks || later.asks),
  reports: ({ earlier, later }) => flag(earlier.reports !== later.reports),
  "other speaker": ({ earlier, later }) => flag(earlier.speaker !== later.speaker),
  ...SUBJECT_SIGNS,
  "other letters": ({ onlyEarlier, onlyLater }) =>
    flag(hasLetter(onlyEarlier) && hasLetter(onlyLater)),
  ...placeSigns("first"),
  ...placeSigns("last"),
  "left out at a start": ({ wordsLeftOut }) => countStarts(wordsLeftOut),
  "added at a start": ({ wordsAdded }) => countStarts(wordsAdded),
  "same values": ({ sameValues }) => Math.min(3, sameValues.length),
  "same exact values": ({ sameValues }) =>
    Math.min(2, ofKind(sameValues, "number", "day", "code").length),
  "words left out": ({ wordsLeftOut }) => Math.min(MAX_WORDS, wordsLeftOut.length),
  "words added": ({ wordsAdded }) => Math.min(MAX_WORDS, wordsAdded.length),
  "values left out": ({ onlyEarlier, wordsLeftOut }) =>
    Math.min(3, onlyEarlier.length - wordsLeftOut.length),
  "values added": ({ onlyLater, wordsAdded }) => Math.min(3, onlyLater.length - wordsAdded.length),
  "other words": ({ wordsLeftOut, wordsAdded }) =>
    flag(wordsLeftOut.length > 0 && wordsAdded.length > 0),
};

function countStarts(words: readonly FactToken[]): number {
  return words.filter(({ before }) => before === "").length;
}

/** Whether one of the words is a single letter or a short identifier. */
function hasLetter(words: readonly FactToken[]): boolean {
  return words.some(({ key, kind }) => kind === "code" && key.length <= 2);
}
