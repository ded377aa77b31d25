import { countOf } from "../difference.ts";
import {
  createReader,
  type FactMemory,
  type FactText,
  type FactToken,
  factOf,
  mayBeVersion,
  negates,
  plainEnglishOf,
  withPlainQuotes,
} from "../fact-text.ts";
import type { Question } from "../question.ts";
import { meaningScore } from "../relevance.ts";
import { placeOf } from "../signals/signals.ts";
import { createSignReader, flag, readTrees, type Signs, type Trees } from "../trees.ts";
import { tellOthers } from "./attribute.ts";
import learnedRelation from "./relation.json" with { type: "json" };
import { type RelationTrees, readPair, readRelation, SUBJECT_SIGNS } from "./relation.ts";
import learned from "./trees.json" with { type: "json" };

/** The most that a single log-odds counts. */
const MAX_ODDS = 6;
const MAX_OTHERS_SHARED = 3;
/** Length that the sign `length` starts from, in UTF-16 units. */
const SHORT = 40;
const MEANING = placeOf("meaning");
const COVERAGE = placeOf("coverage");
const INTERACTION = placeOf("interaction");

const relationOf = readRelation(learnedRelation as RelationTrees);

/** Words that replace a name. */
const PRONOUN = /\b(?:he|she|it|they|his|hers?|its|their|him|them|there|that|this)\b/i;

/** A memory with its place in the result. */
interface Compared {
  memory: FactMemory;
  /** The weighted sum of its signals, and the signals. */
  sum: number;
  signals: ArrayLike<number>;
  place: number;
  /** For each word of the question how well a word of the memory matches it, −1 to 1; null if they were not compared. */
  matches: readonly number[] | null;
}

/** What a comparison of results reads of their question. */
type VersionQuestion = Pick<Question, "facts" | "asksForPast" | "model">;

/**
 * Returns a function that reads two results of a question, with what several signs need of them; null when they can't be
 * versions of one fact.
 */
export function readVersions({ facts: asked, asksForPast, model }: VersionQuestion) {
  const askedKeys = new Set(asked.map(({ key }) => key));
  return (one: Compared, other: Compared, cosine: number) => {
    const isOlder = one.memory.createdAt < other.memory.createdAt;
    const [older, newer] = isOlder ? [one, other] : [other, one];
    if (!canBeVersions(older.memory, newer.memory)) return null;
    const [a, b] = [factOf(older.memory), factOf(newer.memory)];
    const texts = readPair(a, b, meaningScore(cosine, model.cosines));
    return {
      older,
      newer,
      texts,
      subjects: texts.subjects,
      asked,
      askedKeys,
      asksForPast,
      relation: relationOf(texts),
      counts: countAsked(asked, a, b),
      change: meaningChange(older.matches, newer.matches),
    };
  };
}

export type Versions = NonNullable<ReturnType<ReturnType<typeof readVersions>>>;

/** How much more of a signal the older or the newer one has, which `times` tells by 1 or −1. */
const more =
  (at: number, times: 1 | -1) =>
  ({ older, newer }: Versions) =>
    Math.max(0, times * ((older.signals[at] ?? 0) - (newer.signals[at] ?? 0)));
const isAskedIn =
  ({ askedKeys }: Versions) =>
  ({ key }: FactToken) =>
    askedKeys.has(key);

/**
 * The signs that two results are versions of one fact. "Asked" words are those of the question; "named" are its names, numbers
 * and identifiers.
 */
export const VERSION_SIGNS: Signs<Versions> = {
  about: ({ relation }) => within(relation.about),
  changed: ({ relation }) => within(relation.changed),
  alike: ({ texts }) => texts.alike,
  "alike and retracts": ({ texts }) => (texts.later.retracts ? texts.alike : 0),
  "alike and changed": ({ texts }) => (texts.later.changed ? texts.alike : 0),
  retracts: ({ texts }) => flag(texts.later.retracts),
  "has word of change": ({ texts }) => flag(texts.later.changed),
  "asked in both": ({ counts }) => counts.asked.both,
  "asked in older": ({ counts }) => counts.asked.older,
  "asked in newer": ({ counts }) => counts.asked.newer,
  "named in both": ({ counts }) => counts.named.both,
  "named in older": ({ counts }) => counts.named.older,
  "named in newer": ({ counts }) => counts.named.newer,
  "asked replaced": (versions) => {
    const isAsked = isAskedIn(versions);
    const { replaced } = versions.texts;
    return replaced.filter((at) => at.earlier.some(isAsked) || at.later.some(isAsked)).length;
  },
  "meaning lost most": ({ change }) => change.lostMost,
  "meaning lost": ({ change }) => change.lost,
  "meaning gained most": ({ change }) => change.gainedMost,
  "meaning gained": ({ change }) => change.gained,
  "others shared": ({ texts: { earlier, later }, askedKeys }) => {
    const isOther = (key: string) => later.keys.has(key) && !askedKeys.has(key);
    return Math.min(MAX_OTHERS_SHARED, countOf(earlier.keys, isOther));
  },
  "first shared": ({ texts }) => flag(texts.later.keys.has(texts.earlier.tokens[0]?.key ?? "")),
  "each has own": (versions) => {
    const { onlyEarlier, onlyLater } = versions.texts;
    const isAsked = isAskedIn(versions);
    return flag(!onlyEarlier.every(isAsked) && !onlyLater.every(isAsked));
  },
  "starts with another": ({ texts }) => flag(texts.isStartReplaced),
  pronoun: ({ newer }) => flag(PRONOUN.test(newer.memory.content)),
  length: ({ older, newer }) => {
    const longer = Math.max(older.memory.content.length, newer.memory.content.length);
    return Math.log2(Math.max(SHORT, longer) / SHORT);
  },
  "same session": ({ older: { memory }, newer }) =>
    flag(memory.sessionId !== null && memory.sessionId === newer.memory.sessionId),
  "other speaker": ({ texts }) => flag(texts.earlier.speaker !== texts.later.speaker),
  asks: ({ texts }) => flag(texts.earlier.asks || texts.later.asks),
  reports: ({ texts }) => flag(texts.earlier.reports !== texts.later.reports),
  place: ({ older, newer }) => Math.log2(1 + Math.max(older.place, newer.place)),
  "about past": ({ asksForPast }) => flag(asksForPast),
  ...SUBJECT_SIGNS,
  "asked in subject of older": ({ asked, texts: { earlier, later } }) =>
    countOnly(asked, earlier.subject, later.keys),
  "asked in subject of newer": ({ asked, texts: { earlier, later } }) =>
    countOnly(asked, later.subject, earlier.keys),
  "asked and lost": ({ counts, change }) =>
    counts.asked.older + counts.named.older > 0 ? change.lostMost : 0,
  "asked and gained": ({ counts, change }) =>
    counts.asked.newer + counts.named.newer > 0 ? change.gainedMost : 0,
  "older is better": ({ older, newer }) => Math.max(0, older.sum - newer.sum),
  "newer is better": ({ older, newer }) => Math.max(0, newer.sum - older.sum),
  "meaning of older": more(MEANING, 1),
  "meaning of newer": more(MEANING, -1),
  "words of older": more(COVERAGE, 1),
  "words of newer": more(COVERAGE, -1),
  "word by word of older": more(INTERACTION, 1),
  "word by word of newer": more(INTERACTION, -1),
  "either word by word": ({ older, newer }) =>
    Math.max(older.signals[INTERACTION] ?? 0, newer.signals[INTERACTION] ?? 0),
};

const sumOfTrees = readTrees(learned as Trees);
const readSigns = createSignReader(VERSION_SIGNS);

/** How sure the trees are that two results are versions of one fact: 0 or more if they are. */
export function sumOfVersions(versions: Versions): number {
  return sumOfTrees(readSigns(versions)) - learned.least;
}

const plainTextOf = createReader((text) => withPlainQuotes(text).toLowerCase());

/** Whether two texts say the opposite of each other: the same words, but only one of them is negated. */
export function areOpposite(one: FactMemory, other: FactMemory): boolean {
  if (negates(one) === negates(other)) return false;
  const a = factOf(one);
  // Most texts lack a word of the other one, and to read all of their words would be slow.
  const text = plainTextOf(other);
  const isMissing = ({ key, kind }: FactToken) =>
    (kind === "word" || kind === "name") && !text.includes(key);
  if (a.tokens.some(isMissing)) return false;
  const b = factOf(other);
  return (
    a.speaker === b.speaker &&
    a.keys.size > 0 &&
    a.keys.size === b.keys.size &&
    [...a.keys].every((key) => b.keys.has(key))
  );
}

/** A text that takes back what was said just before, and may not say again what that was about. */
const TAKES_BACK =
  /^\W*(?:(?:scrap|scratch|strike|forget|ignore|disregard|cancel|undo) (?:that|this|it)\b|never ?mind\b|(?:no|wait|sorry|actually|correction|wrong|(?:that(?: is|'s) )?not true)[,:.])/i;
/** Milliseconds within which such a text is about the memory before it. */
const JUST_BEFORE = 15 * 60_000;

/** Whether a memory takes back the one that was saved just before it, such as "Scrap that, MySQL from now on." */
export function takesBack(older: FactMemory, newer: FactMemory): boolean {
  const later = newer.createdAt - older.createdAt;
  if (later <= 0 || later > JUST_BEFORE) return false;
  if (!mayBeVersion(older) || !mayBeVersion(newer)) return false;
  return TAKES_BACK.test(plainEnglishOf(newer)) && tellOthers(older, newer) === null;
}

/** Whether the newer of two memories may change what the older one says, whatever they say. */
export function mayChange(older: FactMemory, newer: FactMemory): boolean {
  // Of what was saved at once, nobody knows which came first.
  if (older.createdAt === newer.createdAt) return false;
  if (!mayBeVersion(older) || !mayBeVersion(newer)) return false;
  // Turns of a conversation go on about a subject without taking back earlier turns. "Python: line length 100" is none.
  const areTurns = [older, newer].every((memory) => factOf(memory).speaker !== undefined);
  return !areTurns || newer.sessionId === null;
}

/** Whether two memories can be versions of one fact by their words, whatever the question is. */
function canBeVersions(older: FactMemory, newer: FactMemory): boolean {
  if (!mayChange(older, newer)) return false;
  const [a, b] = [factOf(older), factOf(newer)];
  if (b.retracts) return true;
  const sharesWord = [...a.keys].some((key) => b.keys.has(key));
  // A newer memory without a word of its own repeats the older one, unless it negates it.
  const saysMore = a.negates !== b.negates || [...b.keys].some((key) => !a.keys.has(key));
  return sharesWord && saysMore;
}

/** How many words of the question, and how many of those that name something, are in both memories, or in only one of them. */
function countAsked(asked: readonly FactToken[], older: FactText, newer: FactText) {
  const counts = { asked: { both: 0, older: 0, newer: 0 }, named: { both: 0, older: 0, newer: 0 } };
  for (const { key, kind } of asked) {
    const [inOlder, inNewer] = [older.keys.has(key), newer.keys.has(key)];
    if (!inOlder && !inNewer) continue;
    const where = inOlder && inNewer ? "both" : inOlder ? "older" : "newer";
    counts[kind === "word" ? "asked" : "named"][where]++;
  }
  return counts;
}

/** How much less, or more, of the question's words the newer memory matches in meaning than the older one. */
function meaningChange(older: readonly number[] | null, newer: readonly number[] | null) {
  let [lostMost, lost, gainedMost, gained] = [0, 0, 0, 0];
  for (const [at, match] of (older ?? []).entries()) {
    const change = (newer?.[at] ?? match) - match;
    lostMost = Math.max(lostMost, -change);
    gainedMost = Math.max(gainedMost, change);
    if (change < 0) lost -= change;
    else gained += change;
  }
  return { lostMost, lost, gainedMost, gained };
}

/** How many of the question's words are in the subject of one memory and nowhere in the other. */
function countOnly(
  asked: readonly FactToken[],
  subject: ReadonlySet<string>,
  others: ReadonlySet<string>,
): number {
  return asked.filter(({ key }) => subject.has(key) && !others.has(key)).length;
}

function within(odds: number): number {
  return Math.max(-MAX_ODDS, Math.min(MAX_ODDS, odds));
}
