import type { MemoryRow } from "../rows.ts";
import { contentWords, stemOf } from "./content-words.ts";
import { type FactMemory, mayBeVersion } from "./fact-text.ts";
import { COMPARED, compareVersions, sumOf } from "./versions.ts";

/** Words of a question about something that no longer holds. */
const PAST =
  /\b(at first|initially|used to|original(?:ly)?|previous(?:ly)?|former(?:ly)?|back then|(?:in|at) the (?:beginning|start)|began)\b/i;
/** Words that ask for the past unless the question is about a habit, such as what to do before a release. */
const MAYBE_PAST = /\b(before|first|use to|earlier|(?<!how )old|prior)\b/i;
const HABIT = /\b(do|does|should|shall|must|may|can|will)\b/i;
const PASSED = /\b(did|didn't|was|were|had)\b/i;
/** Words of a question about the first version. */
const FIRST =
  /\b(at first|first|initial(?:ly)?|original(?:ly)?|(?:in|at) the (?:beginning|start)|began)\b/i;
const BEFORE = /\bbefore\b(.*)$/i;

/** How far the likeness of a version may be below that of the version most like the best result. */
const WITHIN = 3;
/** What a question about the past adds to the likeness of two results. */
const OF_PAST = 1;
/** The likeness of two memories of one history: superseding proves that they are versions. */
const CERTAIN = 100;

/** Scripts without spaces between words: without words, versions cannot be recognized. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** The fields of a result that determine the order of versions. */
export interface Versioned {
  memory: FactMemory & Pick<MemoryRow, "id"> & Partial<Pick<MemoryRow, "supersedes">>;
  score: number;
  chance: number;
  /** Id of the newest memory that was found of the same fact. */
  newer?: string;
}

/**
 * Ids of the results that may be versions of one fact: `orderVersions` needs their vectors. None in most
 * searches of long texts.
 */
export function versionsToCompare(question: string, ranked: readonly Versioned[]): string[] {
  if (UNSPACED.test(question)) return [];
  const found = ranked.slice(0, COMPARED).filter(({ memory }) => mayBeVersion(memory));
  return found.length < 2 ? [] : found.map(({ memory }) => memory.id);
}

/**
 * Of the versions of one fact, moves the one that the question asks for before the others: the newest, or for a
 * question about the past the one that held then. Older versions get the id of the newest one.
 * @param vectors of the results to compare, by id
 */
export function orderVersions<Result extends Versioned>(
  question: string,
  ranked: readonly Result[],
  vectors: ReadonlyMap<string, Float32Array>,
): (Result & Pick<Versioned, "newer">)[] {
  const found = ranked.slice(0, COMPARED);
  const places = placesInHistories(found);
  if (vectors.size === 0 && places.size === 0) return [...ranked];
  const compare = compareVersions(
    question,
    found.map(({ memory }) => memory),
  );
  // A question about the past implies that there are versions.
  const more = asksForPast(question) ? OF_PAST : 0;
  const likeness = (one: number, other: number) => {
    const [a, b] = [found[one], found[other]];
    const [history, otherHistory] = [a, b].map((each) => places.get(each?.memory.id ?? ""));
    if (history && history.first === otherHistory?.first) return CERTAIN;
    const [first, second] = [a && vectors.get(a.memory.id), b && vectors.get(b.memory.id)];
    if (!a || !b || !first || !second) return Number.NEGATIVE_INFINITY;
    const signs = compare({ ...a, place: one }, { ...b, place: other }, () =>
      cosineOf(first, second),
    );
    return signs ? sumOf(signs) + more : Number.NEGATIVE_INFINITY;
  };
  const ordered: (Result & Pick<Versioned, "newer">)[] = [...ranked];
  const taken = new Set<Versioned>();
  for (const [at, best] of found.entries()) {
    if (taken.has(best)) continue;
    const sums = found.map((one, place) =>
      place > at && !taken.has(one) ? likeness(at, place) : Number.NEGATIVE_INFINITY,
    );
    const least = Math.max(0, Math.max(...sums) - WITHIN);
    const others = found.filter((_, place) => (sums[place] ?? 0) >= least);
    if (others.length === 0) continue;
    const versions = [best, ...others].sort((a, b) => inHistory(places, a, b) || byTime(a, b));
    for (const version of versions) taken.add(version);
    const newest = versions.at(-1) ?? best;
    const wanted = chooseVersion(question, versions) ?? best;
    const place = ordered.findIndex(({ memory }) => memory === best.memory);
    if (wanted !== best) {
      ordered.splice(
        ordered.findIndex(({ memory }) => memory === wanted.memory),
        1,
      );
      // Results are ordered by score, so it gets the score of its new place.
      ordered.splice(place, 0, { ...wanted, score: best.score, chance: best.chance });
    }
    for (const [index, one] of ordered.entries()) {
      if (versions.some(({ memory }) => memory === one.memory) && one.memory !== newest.memory) {
        ordered[index] = { ...one, newer: newest.memory.id };
      }
    }
  }
  return ordered;
}

/** A history, identified by its oldest result, and the place of a result in it: 0 for the oldest. */
interface PlaceInHistory {
  first: string;
  place: number;
}

/** The places of results in histories, if any of the results supersedes another. */
function placesInHistories(found: readonly Versioned[]): Map<string, PlaceInHistory> {
  const superseded = new Map<string, string>();
  const ids = new Set(found.map(({ memory }) => memory.id));
  for (const { memory } of found) {
    if (memory.supersedes && ids.has(memory.supersedes))
      superseded.set(memory.id, memory.supersedes);
  }
  const places = new Map<string, PlaceInHistory>();
  for (const id of superseded.size > 0 ? ids : []) {
    let [first, place] = [id, 0];
    for (let older = superseded.get(id); older && place < found.length; place++) {
      first = older;
      older = superseded.get(older);
    }
    places.set(id, { first, place });
  }
  return places;
}

/** Negative when the first is the older one of a common history, 0 without a common history. */
function inHistory(
  places: ReadonlyMap<string, PlaceInHistory>,
  { memory: a }: Versioned,
  { memory: b }: Versioned,
): number {
  const [one, other] = [places.get(a.id), places.get(b.id)];
  return one && other && one.first === other.first ? one.place - other.place : 0;
}

function asksForPast(question: string): boolean {
  if (PAST.test(question)) return true;
  return MAYBE_PAST.test(question) && (PASSED.test(question) || !HABIT.test(question));
}

/** The version that a question asks for. */
function chooseVersion<Result extends Versioned>(
  question: string,
  versions: readonly Result[],
): Result | undefined {
  if (!asksForPast(question)) return versions.at(-1);
  if (FIRST.test(question)) return versions[0];
  // "before Globex" asks for the version before the one that names Globex.
  const [, what = ""] = BEFORE.exec(question) ?? [];
  const stems = contentWords(what).map(stemOf);
  const has = ({ memory }: Result, stem: string) => memory.content.toLowerCase().includes(stem);
  const named = versions.findIndex((version, at) => {
    const [first = version] = versions;
    return at > 0 && stems.some((stem) => has(version, stem) && !has(first, stem));
  });
  return named > 0 ? versions[named - 1] : versions.at(-2);
}

/** The cosine of two vectors of length 1. */
export function cosineOf(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

function byTime({ memory: a }: Versioned, { memory: b }: Versioned): number {
  return a.createdAt - b.createdAt;
}
