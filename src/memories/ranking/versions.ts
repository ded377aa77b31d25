import { type FactMemory, mayBeVersion, readFact, stemsOf } from "./fact-text.ts";
import { logOddsOf } from "./scores.ts";

/** Numbers by which two memories are recognized as versions of one fact; see `SIGNS`. */
export type Signs = Record<(typeof SIGNS)[number][0], number>;

/**
 * The weight of each sign. `test/eval/fit-versions.ts` fits them to facts that changed, against memories
 * about similar subjects and turns of conversations.
 */
export const SIGNS = [
  /** The cosine of both memories. */
  ["alike", 4.38],
  /** The cosine if the newer memory has a word that announces a change, otherwise 0. */
  ["alikeAndChanged", 4.88],
  /** 1 if the newer memory has a word that announces a change. */
  ["changed", -1.04],
  /** The share of words that both have, rare words counting more. */
  ["shared", 9.5],
  /** Of the question's words in the older memory, the share that the newer one has too. */
  ["sharedAsked", -0.54],
  /** The share that it lacks if it is a terse note, which is then about something else. */
  ["lacksAsked", -2.21],
  /** 1 if only one memory has a name or number of the question. */
  ["lostName", -2.07],
  /** Words in both memories but not in the question, at most three. */
  ["othersShared", -0.85],
  /** 1 if each memory has a word that the other one and the question lack: its value. */
  ["differ", 1.27],
  /** Doublings of 40 characters that make the length of the longer memory. */
  ["length", -1.18],
  /** 1 if both are of the same session. */
  ["sameSession", -2.52],
  /** 1 unless both have the same speaker or none. */
  ["otherSpeaker", -3.18],
  /** 1 if one of them is a question. */
  ["asks", -2.23],
  /** The place in the result of the memory that comes later there. */
  ["place", -0.38],
  /** The difference of their scores, in log-odds. */
  ["scores", -0.26],
] as const;
const BASE = -5.83;
/** The sum from which on more of the pairs that a search finds are versions than not. */
const LEAST = -1.5;

/** Results that are compared with each other: the first ones. */
export const COMPARED = 8;
/** Length that the sign `length` starts from, in UTF-16 units. */
const SHORT = 40;
const MOST_OTHERS_SHARED = 3;
/** Content words of a terse note, at most. */
const TERSE = 4;
/** Scores of 0 and 1 have no log-odds: this is the lowest that counts. */
const LOWEST = 0.005;

const LETTER = /\p{L}/u;
/** Words that replace a name. */
const PRONOUN = /\b(he|she|it|they|his|hers?|its|their|him|them|there)\b/i;
/** Names and numbers. A name at the beginning of the question does not count: every first word has a capital. */
const NAME = /(?<=\S\s+)\p{Lu}[\p{L}\p{N}]*|\p{N}+/gu;
const BEFORE = /\bbefore\b/i;

/** A memory with its score and its place in the result. */
interface Compared {
  memory: FactMemory;
  score: number;
  place: number;
}

type Stems = ReadonlySet<string>;

/**
 * Reads the results of a search. Returns a function that compares two of them: it returns the signs that
 * they are versions of one fact, or null when they cannot be.
 */
export function compareVersions(
  question: string,
  found: readonly FactMemory[],
): (one: Compared, other: Compared, cosineOf: () => number) => Signs | null {
  const asked = stemsOf(question);
  const names = namesIn(question);
  const rareness = createRareness(found);
  const ownRareness = createCache(rareness);

  return (one, other, cosineOf) => {
    const isOlder = one.memory.createdAt < other.memory.createdAt;
    const [older, newer] = isOlder ? [one.memory, other.memory] : [other.memory, one.memory];
    if (!canBeVersions(older, newer)) return null;
    const [a, b] = [readFact(older), readFact(newer)];
    const shared = namesInBoth(names, a.stems, b.stems);
    if (shared === "none" && !PRONOUN.test(newer.content)) return null;
    const both = inBoth(a.stems, b.stems);
    const ofQuestion = inBoth(a.stems, asked);
    const askedInBoth = ofQuestion.filter((stem) => b.stems.has(stem));
    const least = Math.min(ownRareness(a.stems), ownRareness(b.stems));
    const lacked = 1 - askedInBoth.length / Math.max(1, ofQuestion.length);
    const longer = Math.max(older.content.length, newer.content.length);
    const cosine = cosineOf();
    return {
      alike: cosine,
      alikeAndChanged: b.changed ? cosine : 0,
      changed: Number(b.changed),
      shared: rareness(both) / Math.max(1, least),
      sharedAsked: rareness(askedInBoth) / Math.max(1, rareness(ofQuestion)),
      lacksAsked: b.stems.size > TERSE ? 0 : lacked,
      lostName: Number(shared !== "all"),
      othersShared: Math.min(MOST_OTHERS_SHARED, both.length - askedInBoth.length),
      differ: Number(hasOwnWord(a.stems, b.stems, asked) && hasOwnWord(b.stems, a.stems, asked)),
      length: Math.log2(Math.max(SHORT, longer) / SHORT),
      sameSession: Number(older.sessionId !== null && older.sessionId === newer.sessionId),
      otherSpeaker: Number(a.speaker !== b.speaker),
      asks: Number(a.asks || b.asks),
      place: Math.max(one.place, other.place),
      scores: Math.abs(logOddsOf(one.score, LOWEST) - logOddsOf(other.score, LOWEST)),
    };
  };
}

/** The weighted sum of signs: 0 or more for versions of one fact. */
export function sumOf(signs: Signs): number {
  let sum = BASE - LEAST;
  for (const [sign, weight] of SIGNS) sum += weight * signs[sign];
  return sum;
}

/** Whether two memories can be versions of one fact, whatever the question is. */
function canBeVersions(older: FactMemory, newer: FactMemory): boolean {
  if (older.createdAt === newer.createdAt) return false;
  if (!mayBeVersion(older) || !mayBeVersion(newer)) return false;
  const [a, b] = [readFact(older), readFact(newer)];
  // Turns of a conversation go on about a subject without taking back earlier turns.
  if (a.speaker !== undefined && b.speaker !== undefined) return false;
  const sharesWord = hasStem(a.stems, (stem) => b.stems.has(stem) && LETTER.test(stem));
  // A newer memory without a word of its own repeats the older one.
  return sharesWord && hasStem(b.stems, (stem) => !a.stems.has(stem));
}

/** Whether any stem passes a test. Called for each pair of results, so it makes no array. */
function hasStem(stems: Stems, passes: (stem: string) => boolean): boolean {
  for (const stem of stems) if (passes(stem)) return true;
  return false;
}

/** The stems of one text that another one has too, in the order of the first. */
function inBoth(one: Stems, other: Stems): string[] {
  const both: string[] = [];
  for (const stem of one) if (other.has(stem)) both.push(stem);
  return both;
}

/** The stems of a question's names, without those after "before": "before Globex" names a value, not the subject. */
function namesIn(question: string): string[] {
  const [subject = ""] = question.split(BEFORE, 1);
  return [...subject.matchAll(NAME)].flatMap(([name]) => [...stemsOf(name)]);
}

/**
 * How many of the question's names that occur in either memory occur in both. A name may be the subject's, or
 * a value that only one version has.
 */
function namesInBoth(names: readonly string[], a: Stems, b: Stems): "all" | "some" | "none" {
  const named = names.filter((name) => a.has(name) || b.has(name));
  const inBoth = named.filter((name) => a.has(name) && b.has(name));
  if (named.length === inBoth.length) return "all";
  return inBoth.length === 0 ? "none" : "some";
}

function hasOwnWord(own: Stems, others: Stems, asked: Stems): boolean {
  return hasStem(own, (stem) => !asked.has(stem) && !others.has(stem));
}

/** Returns a function that sums the rareness of stems: the fewer of these texts have a stem, the rarer it is. */
function createRareness(found: readonly FactMemory[]): (stems: Iterable<string>) => number {
  const counts = new Map<string, number>();
  /** By the number of texts that have a stem. */
  const rareness = new Float64Array(found.length + 1);
  const count = () => {
    for (const memory of found) {
      for (const stem of readFact(memory).stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
    }
    for (let texts = 1; texts <= found.length; texts++) {
      rareness[texts] = Math.log(1 + (found.length + 0.5) / (texts + 0.5));
    }
  };
  return (stems) => {
    // Most searches compare no pair so far that they need it.
    if (counts.size === 0) count();
    let sum = 0;
    for (const stem of stems) sum += rareness[counts.get(stem) ?? 0] ?? 0;
    return sum;
  };
}

/** Remembers the results of a function: each memory is compared with several others. */
function createCache(compute: (stems: Stems) => number): (stems: Stems) => number {
  const known = new Map<Stems, number>();
  return (stems) => {
    const result = known.get(stems) ?? compute(stems);
    known.set(stems, result);
    return result;
  };
}
