import type { MemoryRow } from "../rows.ts";
import { contentWords, stemOf } from "./content-words.ts";
import { logOddsOf } from "./scores.ts";

/** What tells that two memories are versions of one fact; see `SIGNS`. */
export type Signs = Record<(typeof SIGNS)[number][0], number>;

/**
 * How much each sign counts, and what they must come to. Fitted by `test/eval/fit-versions.ts` to
 * facts that changed, against the memories beside them and in conversations.
 */
export const SIGNS = [
  /** Cosine of the two. */
  ["alike", 4.38],
  /** The same where the newer one has a word of change. */
  ["alikeAndChanged", 4.88],
  /** A word of change in the newer one. */
  ["changed", -1.04],
  /** The share of words that they have in common, rare ones counting more. */
  ["shared", 9.5],
  /** The share of the question's words in the older one that the newer one has too. */
  ["sharedAsked", -0.54],
  /** The share of them that it lacks, where it is a terse note: that is about something else. */
  ["lacksAsked", -2.21],
  /** A name or number of the question that only one of them has. */
  ["lostName", -2.07],
  /** Words in common that the question does not have, up to three. */
  ["beside", -0.85],
  /** Each has a word of its own: its value. */
  ["differ", 1.27],
  /** How often the longer one is twice as long as 40 characters. */
  ["length", -1.18],
  ["sameSession", -2.52],
  /** Only one has a speaker. */
  ["otherSpeaker", -3.18],
  ["asks", -2.23],
  /** Place of the later one in the result. */
  ["place", -0.38],
  /** How far apart their scores are, in log-odds. */
  ["standing", -0.26],
] as const;
const BASE = -5.83;
/** From which sum on: more of the pairs that were found are versions than not. */
const LEAST = -1.5;

/** Results that are compared. */
export const COMPARED = 8;
/** Characters from which on a memory says too much to be one fact. */
const LONG = 400;
const SHORT = 40;
const BESIDE = 3;
/** Content words of a terse note at the most. */
const TERSE = 4;
/** A score of 0 or 1 has no log-odds. */
const LOWEST = 0.005;

/** Words of what has changed. */
export const CHANGE =
  /\b(now|no longer|not any ?more|any ?more|newe?r?|instead|switched?|mov(?:ed?|ing)|chang(?:ed?|es)|replac(?:ed?|es)|raised?|upgraded|renamed|former|formerly|since|as of|from now on|these days|lately|latest|again|already|by now|left|quit|gave up|given up|stopped|sold|became|become|promoted|joined|started|extended|postponed|delayed|cancell?ed|closed|finished|done|went (?:up|down|over)|rather|took over|handed|retired|dropped|gone|from today|until)\b/i;
/** Who says it, by one name or two, as transcripts have it. */
const SPEAKER = /^\s*(\p{Lu}[\p{L}\p{N}._-]*(?: \p{Lu}[\p{L}\p{N}._-]*)?):\s/u;
const LETTER = /\p{L}/u;
/** In place of a name. */
const PRONOUN = /\b(he|she|it|they|his|hers?|its|their|him|them|there)\b/i;
const ASKS = /\?\s*$/;
/** Names and numbers: what does not begin the question. */
const NAME = /(?<=\S\s+)\p{Lu}[\p{L}\p{N}]*|\p{N}+/gu;

/** Whether a memory can be a version of a fact: a long one says too much. */
export function mayBeVersion({ content }: Said): boolean {
  return content.length <= LONG;
}

const BEFORE = /\bbefore\b/i;

/** What a text tells of what it is. */
interface Read {
  stems: ReadonlySet<string>;
  speaker: string | undefined;
  asks: boolean;
  changed: boolean;
}

const known = new WeakMap<Said, Read>();

/** What is read of a memory. */
export type Said = Pick<MemoryRow, "content" | "createdAt" | "sessionId">;

/** What is compared: a memory, its score, and its place in the result. */
interface Compared {
  memory: Said;
  score: number;
  place: number;
}

/** Reads what was found, and returns what compares two of it: the signs that they are versions. */
export function compareVersions(
  question: string,
  found: readonly Said[],
): (one: Compared, other: Compared, cosineOf: () => number) => Signs | null {
  const asked = stemsOf(question);
  // "before Globex" names a value, not the subject.
  const [subject = ""] = question.split(BEFORE, 1);
  const names = [...subject.matchAll(NAME)].flatMap(([name]) => [...stemsOf(name)]);
  const counts = new Map<string, number>();
  for (const memory of found) {
    for (const stem of read(memory).stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  const rare = new Map<string, number>();
  for (const [stem, count] of counts) {
    rare.set(stem, Math.log(1 + (found.length + 0.5) / (count + 0.5)));
  }
  const rareness = (stems: Iterable<string>) => {
    let sum = 0;
    for (const stem of stems) sum += rare.get(stem) ?? 0;
    return sum;
  };

  return (one, other, cosineOf) => {
    const isOlder = one.memory.createdAt < other.memory.createdAt;
    const [older, newer] = isOlder ? [one.memory, other.memory] : [other.memory, one.memory];
    const [a, b] = [read(older), read(newer)];
    // A name that is asked for may be the subject's, or a value that only one version has.
    const named = names.filter((name) => a.stems.has(name) || b.stems.has(name));
    const inBoth = named.filter((name) => a.stems.has(name) && b.stems.has(name));
    if (named.length > 0 && inBoth.length === 0 && !PRONOUN.test(newer.content)) return null;
    const longer = Math.max(older.content.length, newer.content.length);
    // Turns of a conversation go on about a subject without taking back what was said of it.
    const isTalk = a.speaker !== undefined && b.speaker !== undefined;
    if (
      older.createdAt === newer.createdAt ||
      !mayBeVersion(older) ||
      !mayBeVersion(newer) ||
      isTalk
    )
      return null;
    const own = [...a.stems];
    const both = own.filter((stem) => b.stems.has(stem));
    if (!both.some((stem) => LETTER.test(stem))) return null;
    // The same said again is no other version.
    if ([...b.stems].every((stem) => a.stems.has(stem))) return null;
    const ofQuestion = own.filter((stem) => asked.has(stem));
    const askedInBoth = ofQuestion.filter((stem) => b.stems.has(stem));
    const least = Math.min(rareness(own), rareness(b.stems));
    const hasOwn = (from: Read, without: Read) =>
      [...from.stems].some((stem) => !asked.has(stem) && !without.stems.has(stem));
    const cosine = cosineOf();
    return {
      alike: cosine,
      alikeAndChanged: b.changed ? cosine : 0,
      changed: b.changed ? 1 : 0,
      shared: rareness(both) / Math.max(1, least),
      sharedAsked: rareness(askedInBoth) / Math.max(1, rareness(ofQuestion)),
      lacksAsked:
        b.stems.size > TERSE ? 0 : 1 - askedInBoth.length / Math.max(1, ofQuestion.length),
      lostName: named.length > inBoth.length ? 1 : 0,
      beside: Math.min(BESIDE, both.length - askedInBoth.length),
      differ: hasOwn(a, b) && hasOwn(b, a) ? 1 : 0,
      length: Math.log2(Math.max(SHORT, longer) / SHORT),
      sameSession: older.sessionId !== null && older.sessionId === newer.sessionId ? 1 : 0,
      otherSpeaker: a.speaker === b.speaker ? 0 : 1,
      asks: a.asks || b.asks ? 1 : 0,
      place: Math.max(one.place, other.place),
      standing: Math.abs(logOddsOf(one.score, LOWEST) - logOddsOf(other.score, LOWEST)),
    };
  };
}

/** What signs come to; versions of one fact from 0 on. */
export function sumOf(signs: Signs): number {
  let sum = BASE - LEAST;
  for (const [sign, weight] of SIGNS) sum += weight * signs[sign];
  return sum;
}

function read(memory: Said): Read {
  const there = known.get(memory);
  if (there) return there;
  const { content } = memory;
  const made = {
    stems: stemsOf(content.slice(0, LONG)),
    speaker: SPEAKER.exec(content)?.[1],
    asks: ASKS.test(content),
    changed: CHANGE.test(content.slice(0, LONG)),
  };
  known.set(memory, made);
  return made;
}

function stemsOf(text: string): Set<string> {
  return new Set(contentWords(text).map(stemOf));
}
