import {
  type FactMemory,
  type FactText,
  type FactToken,
  factOf,
  mayBeVersion,
  negates,
  withPlainQuotes,
} from "../fact-text.ts";
import type { Question } from "../question.ts";
import { flag, ofKind, type RelationTrees, readRelation, subjectSigns } from "../relation.ts";
import { meaningScore } from "../relevance.ts";
import { SIGNALS } from "../signals/signals.ts";
import { readTrees, type Trees } from "../trees.ts";
import learnedRelation from "./relation.json" with { type: "json" };
import learned from "./trees.json" with { type: "json" };

/** The most that a single log-odds counts. */
const MAX_ODDS = 6;
const MAX_OTHERS_SHARED = 3;
/** Length that the sign `length` starts from, in UTF-16 units. */
const SHORT = 40;
const [MEANING, COVERAGE, INTERACTION] = ["meaning", "coverage", "interaction"].map((wanted) =>
  SIGNALS.findIndex(({ name }) => name === wanted),
) as [number, number, number];

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
 * Returns a function that compares two results of a question: it returns the signs that they are versions of
 * one fact, or null when they cannot be. "Asked" words are those of the question; "named" are its names, numbers
 * and identifiers. The order of the signs counts: the trees name a sign by its number.
 */
export function compareVersions({ facts: asked, asksForPast, model }: VersionQuestion) {
  return (one: Compared, other: Compared, cosine: number) => {
    const isOlder = one.memory.createdAt < other.memory.createdAt;
    const [older, newer] = isOlder ? [one, other] : [other, one];
    const [a, b] = [factOf(older.memory), factOf(newer.memory)];
    if (!canBeVersions(older.memory, newer.memory)) return null;
    const alike = meaningScore(cosine, model.cosines);
    const { about, changed, difference } = relationOf(a, b, alike);
    const counts = countAsked(asked, a, b);
    const change = meaningChange(older.matches, newer.matches);
    const better = older.sum - newer.sum;
    const signal = (at: number) => (older.signals[at] ?? 0) - (newer.signals[at] ?? 0);
    const askedKeys = new Set(asked.map(({ key }) => key));
    const isAsked = (tokens: readonly FactToken[]) => tokens.some(({ key }) => askedKeys.has(key));
    const replaced = difference.regions.filter(
      (at) => at.earlier.length > 0 && at.later.length > 0,
    );
    const [start] = replaced.filter(({ isStart }) => isStart);
    const both = [...a.keys].filter((key) => b.keys.has(key));
    const longer = Math.max(older.memory.content.length, newer.memory.content.length);
    return {
      about: within(about),
      changed: within(changed),
      alike,
      "alike and retracts": b.retracts ? alike : 0,
      "alike and changed": b.changed ? alike : 0,
      retracts: flag(b.retracts),
      "has word of change": flag(b.changed),
      ...counts,
      "asked replaced": replaced.filter((at) => isAsked(at.earlier) || isAsked(at.later)).length,
      ...change,
      "others shared": Math.min(
        MAX_OTHERS_SHARED,
        both.filter((key) => !askedKeys.has(key)).length,
      ),
      "first shared": flag(both.includes(a.tokens[0]?.key ?? "")),
      "each has own": flag(
        difference.onlyEarlier.some(({ key }) => !askedKeys.has(key)) &&
          difference.onlyLater.some(({ key }) => !askedKeys.has(key)),
      ),
      "starts with another": flag(start !== undefined),
      pronoun: flag(PRONOUN.test(newer.memory.content)),
      length: Math.log2(Math.max(SHORT, longer) / SHORT),
      "same session": flag(
        older.memory.sessionId !== null && older.memory.sessionId === newer.memory.sessionId,
      ),
      "other speaker": flag(a.speaker !== b.speaker),
      asks: flag(a.asks || b.asks),
      reports: flag(a.reports !== b.reports),
      place: Math.log2(1 + Math.max(one.place, other.place)),
      "about past": flag(asksForPast),
      ...subjectSigns(a, b),
      "asked in subject of older": countOnly(asked, a.subject, b.keys),
      "asked in subject of newer": countOnly(asked, b.subject, a.keys),
      "asked and lost":
        counts["asked in older"] + counts["named in older"] > 0 ? change["meaning lost most"] : 0,
      "asked and gained":
        counts["asked in newer"] + counts["named in newer"] > 0 ? change["meaning gained most"] : 0,
      "older is better": Math.max(0, better),
      "newer is better": Math.max(0, -better),
      "meaning of older": Math.max(0, signal(MEANING)),
      "meaning of newer": Math.max(0, -signal(MEANING)),
      "words of older": Math.max(0, signal(COVERAGE)),
      "words of newer": Math.max(0, -signal(COVERAGE)),
      "word by word of older": Math.max(0, signal(INTERACTION)),
      "word by word of newer": Math.max(0, -signal(INTERACTION)),
      "either word by word": Math.max(
        older.signals[INTERACTION] ?? 0,
        newer.signals[INTERACTION] ?? 0,
      ),
    };
  };
}

export type VersionSigns = NonNullable<ReturnType<ReturnType<typeof compareVersions>>>;

/** Whether two texts say the opposite of each other: the same words, but only one of them is negated. */
export function areOpposite(one: FactMemory, other: FactMemory): boolean {
  if (negates(one) === negates(other)) return false;
  const a = factOf(one);
  // Most texts lack a word of the other one, and to read all of their words would be slow.
  const text = withPlainQuotes(other.content).toLowerCase();
  if (!ofKind(a.tokens, "word", "name").every(({ key }) => text.includes(key))) return false;
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
  /^\W*(?:(?:scrap|scratch|strike|forget|ignore|disregard|cancel|undo) (?:that|this|it)\b|never ?mind\b|no,|wait,|actually,|correction:)/i;
/** Milliseconds within which such a text is about the memory before it. */
const JUST_BEFORE = 15 * 60_000;

/** Whether a memory takes back the one that was saved just before it, such as "Scrap that, MySQL from now on." */
export function takesBack(older: FactMemory, newer: FactMemory): boolean {
  const later = newer.createdAt - older.createdAt;
  if (later <= 0 || later > JUST_BEFORE) return false;
  return mayBeVersion(older) && mayBeVersion(newer) && TAKES_BACK.test(newer.content);
}

const sumOfTrees = readTrees(learned as Trees);

/** How sure the trees are that signs are of versions of one fact: 0 or more if they are. */
export function sumOfSigns(signs: VersionSigns): number {
  return sumOfTrees(Float64Array.from(Object.values(signs))) - learned.least;
}

/** Whether two memories can be versions of one fact, whatever the question is. */
function canBeVersions(older: FactMemory, newer: FactMemory): boolean {
  if (older.createdAt === newer.createdAt) return false;
  if (!mayBeVersion(older) || !mayBeVersion(newer)) return false;
  const [a, b] = [factOf(older), factOf(newer)];
  // Turns of a conversation go on about a subject without taking back earlier turns.
  if (a.speaker !== undefined && b.speaker !== undefined) return false;
  if (b.retracts) return true;
  const sharesWord = [...a.keys].some((key) => b.keys.has(key));
  // A newer memory without a word of its own repeats the older one, unless it negates it.
  const saysMore = a.negates !== b.negates || [...b.keys].some((key) => !a.keys.has(key));
  return sharesWord && saysMore;
}

/** How many of the question's words are in both memories, or in only one of them. */
function countAsked(asked: readonly FactToken[], older: FactText, newer: FactText) {
  const counts = {
    "asked in both": 0,
    "asked in older": 0,
    "asked in newer": 0,
    "named in both": 0,
    "named in older": 0,
    "named in newer": 0,
  };
  for (const { key, kind } of asked) {
    const [inOlder, inNewer] = [older.keys.has(key), newer.keys.has(key)];
    if (!inOlder && !inNewer) continue;
    const where = inOlder && inNewer ? "both" : inOlder ? "older" : "newer";
    counts[`${kind === "word" ? "asked" : "named"} in ${where}`]++;
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
  return {
    "meaning lost most": lostMost,
    "meaning lost": lost,
    "meaning gained most": gainedMost,
    "meaning gained": gained,
  };
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
