import { cosineOf } from "../../../embedding/embedder.ts";
import type { Relate } from "../../../embedding/relations/relater.ts";
import type { MemoryRow } from "../../model/rows.ts";
import { type FactMemory, mayBeVersion, retracts, withStatement } from "../fact-text.ts";
import type { Question } from "../question.ts";
import { areApart } from "./apart.ts";
import { earlierThanNamed } from "./before.ts";
import { byTime, inHistory, inTime, type PlaceInHistory, placesInHistories } from "./history.ts";
import { saysOver } from "./over.ts";
import { MARKED_FROM, pairSigns, sumOfRead } from "./pair.ts";
import { areOpposite, readVersions, sumOfVersions, takesBack, type Versions } from "./signs.ts";

/** How far the likeness of a version may be below that of the version most like the best result. */
const WITHIN = 3;
/** The likeness of two memories of one history, which superseding proves to be versions, and of opposites. */
const CERTAIN = 100;
/** The results that the model of relations compares with one of the first: the most likely ones by the trees. */
const READ_PAIRS = { least: -8, most: 4 };
/** The first results, of which versions are looked for, and the results among which they are found. */
export const ANCHORS = 3;
export const COMPARED_RESULTS = 24;
/** The least cosine of two versions among the first results, and of others unless the newer one takes something back. */
const FIRST_PLACES = 8;
const LEAST_COSINE = { first: 0.55, others: 0.7 };

/** The fields of a result that determine the order of versions. */
export interface Versioned {
  memory: FactMemory & Pick<MemoryRow, "id"> & Partial<Pick<MemoryRow, "supersedes" | "project">>;
  score: number;
  chance: number;
  sum: number;
  signals: ArrayLike<number>;
}

/** What the comparison of versions adds to a result. */
export interface VersionMarks {
  /** Id of the newest memory that was found of the same fact, if it is another one. */
  newer?: string;
  /** Ids of the older memories that were found of the same fact, the newest of them first. */
  replaces?: string[];
}

/** What is compared of a result besides its text, by its id. */
export interface VersionData {
  vectors: ReadonlyMap<string, Float32Array>;
  /** How well each word of the question is matched; without an entry, words were not compared by meaning. */
  matches: ReadonlyMap<string, readonly number[]>;
}

/**
 * Ids of the results that may be versions of one fact: `orderVersions` needs their vectors. None in most
 * searches of long texts.
 */
export function versionsToCompare({ hasWords }: Question, ranked: readonly Versioned[]): string[] {
  if (!hasWords) return [];
  const isCompared = ({ memory }: Versioned) => mayBeVersion(memory);
  if (!ranked.slice(0, ANCHORS).some(isCompared)) return [];
  const found = ranked.slice(0, COMPARED_RESULTS).filter(isCompared);
  return found.length < 2 ? [] : found.map(({ memory }) => memory.id);
}

/**
 * Of the versions of one fact, moves the one that the question asks for before the others: the newest, or for a
 * question about the past the one that held then.
 */
export async function orderVersions<Result extends Versioned>(
  question: Question,
  ranked: readonly Result[],
  data: VersionData,
  relate: Relate,
): Promise<(Result & VersionMarks)[]> {
  const found = ranked.slice(0, COMPARED_RESULTS);
  const places = placesInHistories(found);
  if (data.vectors.size === 0 && places.size === 0) return [...ranked];
  const likeness = createLikeness(question, found, { ...data, places });
  const ordered: (Result & VersionMarks)[] = [...ranked];
  const taken = new Set<Versioned>();
  for (const [at, best] of found.slice(0, ANCHORS).entries()) {
    if (taken.has(best)) continue;
    const byTrees = found.map((one, place) =>
      place !== at && !taken.has(one) ? likeness(at, place) : Number.NEGATIVE_INFINITY,
    );
    const sums = await withRelations(question, best, found, { byTrees, relate });
    const least = Math.max(0, Math.max(...sums) - WITHIN);
    const others = found.filter((_, place) => (sums[place] ?? 0) >= least);
    if (others.length === 0) continue;
    const versions = [best, ...others].sort((a, b) => inHistory(places, a, b) || byTime(a, b));
    for (const version of versions) taken.add(version);
    putFirst(ordered, best, chooseVersion(question, versions) ?? best);
    const isSure = (one: Result) => one === best || (sums[found.indexOf(one)] ?? 0) >= MARKED_FROM;
    mark(ordered, versions, isSure);
  }
  const [first] = ordered;
  const earlier = await earlierThanNamed(question, ordered, relate);
  if (first && earlier) putFirst(ordered, first, earlier);
  return ordered;
}

/**
 * The likenesses of one result and all. The trees choose the pairs that the model of relations reads. What it has not read may
 * be a version, but not surely.
 */
async function withRelations(
  { text, asked, facts }: Question,
  best: Versioned,
  found: readonly Versioned[],
  { byTrees, relate }: { byTrees: readonly number[]; relate: Relate },
): Promise<number[]> {
  let areRead = false;
  const sums = byTrees.map((sum) => (sum < CERTAIN ? Math.min(0, sum) : sum));
  const places = placesToRead(byTrees);
  for (const at of places) {
    const other = found[at] ?? best;
    const [older, newer] = inTime(best, other);
    const isOver = saysOver(facts, older, newer);
    const known = { trees: byTrees[at] ?? 0, isOver };
    const signs = await pairSigns(text, [older.content, newer.content], known, relate);
    if (!signs) continue;
    areRead = true;
    sums[at] = sumOfRead(signs, [older, newer], { asked, isOver });
  }
  // What is less likely than those that were read is no version because nobody has read it.
  return sums.map((sum, at) =>
    areRead && sum < CERTAIN && !places.includes(at) ? Number.NEGATIVE_INFINITY : sum,
  );
}

/** The places of the results that the model of relations reads: the likeliest by the trees, unless they are certain. */
export function placesToRead(byTrees: readonly number[]): number[] {
  return [...byTrees.entries()]
    .filter(([, sum]) => sum >= READ_PAIRS.least && sum < CERTAIN)
    .sort(([, a], [, b]) => b - a)
    .slice(0, READ_PAIRS.most)
    .map(([at]) => at);
}

/** The version that a question asks for. @param versions the oldest first */
function chooseVersion<Result extends Versioned>(
  { asksForPast, asksForFirst, before }: Question,
  versions: readonly Result[],
): Result | undefined {
  if (!asksForPast) return versions.at(-1);
  if (asksForFirst) return versions[0];
  const has = ({ memory }: Result, stem: string) => memory.content.toLowerCase().includes(stem);
  const named = versions.findIndex((version, at) => {
    const [first = version] = versions;
    return at > 0 && before.some((stem) => has(version, stem) && !has(first, stem));
  });
  return named > 0 ? versions[named - 1] : versions.at(-2);
}

/** The likeness of two results by their places: 0 or more for versions of one fact. */
function createLikeness(
  question: Question,
  found: readonly Versioned[],
  { places, ...data }: VersionData & { places: ReadonlyMap<string, PlaceInHistory> },
): (one: number, other: number) => number {
  const { asked, facts } = question;
  const several = question.asksForPast ? null : question.several;
  const compare = createComparison(question, found, data);
  return (one, other) => {
    const [a, b] = [found[one], found[other]];
    if (!a || !b) return Number.NEGATIVE_INFINITY;
    const [history, others] = [a, b].map(({ memory }) => places.get(memory.id));
    if (history && history.first === others?.first) return CERTAIN;
    if (areOpposite(a.memory, b.memory)) return CERTAIN;
    if (isTakenBack(found, a, b, data.vectors)) return CERTAIN;
    if (areApart(several, a.memory, b.memory)) return Number.NEGATIVE_INFINITY;
    const versions = compare(one, other);
    const [older, newer] = inTime(a, b);
    const isRead = saysOver(facts, older, newer) || (versions && asked.tellBoth(older, newer));
    const sum = versions ? sumOfVersions(versions) : Number.NEGATIVE_INFINITY;
    return isRead ? Math.max(READ_PAIRS.least, sum) : sum;
  };
}

/** Whether one of two results takes back the other, which was saved just before it: no other result lies between them. */
function isTakenBack(
  found: readonly Versioned[],
  a: Versioned,
  b: Versioned,
  vectors: VersionData["vectors"],
): boolean {
  const [older, newer] = inTime(a, b);
  if (!takesBack(older, newer)) return false;
  const [first, second] = [vectors.get(a.memory.id), vectors.get(b.memory.id)];
  if (!first || !second || cosineOf(first, second) < LEAST_COSINE.first) return false;
  const isBetween = ({ memory: { createdAt } }: Versioned) =>
    createdAt > older.createdAt && createdAt < newer.createdAt;
  return !found.some(isBetween);
}

/** Compares two of the first results by their places; null when they can't be versions of one fact. */
export function createComparison(
  question: Question,
  found: readonly Versioned[],
  { vectors, matches }: VersionData,
): (one: number, other: number) => Versions | null {
  const compare = readVersions(question);
  const read = (place: number) => {
    const one = found[place];
    const vector = one && vectors.get(one.memory.id);
    if (!one || !vector) return null;
    const { memory, sum, signals } = one;
    const said = withStatement(memory, question.facts);
    if (!said) return null;
    return { memory: said, sum, signals, place, vector, matches: matches.get(memory.id) ?? null };
  };
  const statements = new Map<number, ReturnType<typeof read>>();
  const readOnce = (place: number) => {
    if (!statements.has(place)) statements.set(place, read(place));
    return statements.get(place);
  };
  return (one, other) => {
    const [a, b] = [readOnce(one), readOnce(other)];
    if (!a || !b) return null;
    const cosine = cosineOf(a.vector, b.vector);
    return isComparable(a, b, cosine) ? compare(a, b, cosine) : null;
  };
}

/** A result with its place. */
interface Placed {
  memory: FactMemory;
  place: number;
}

/** Whether two results are near enough to be compared: most pairs are not, and comparing takes time. */
function isComparable(a: Placed, b: Placed, cosine: number): boolean {
  const isFirst = a.place < FIRST_PLACES && b.place < FIRST_PLACES;
  if (cosine < LEAST_COSINE.first) return false;
  if (isFirst || cosine >= LEAST_COSINE.others) return true;
  const [, newer] = inTime(a, b);
  return retracts(newer);
}

/** Ids of the results that are compared with another one. */
export function comparable(
  ranked: readonly Versioned[],
  vectors: ReadonlyMap<string, Float32Array>,
): string[] {
  const placed = ranked.slice(0, COMPARED_RESULTS).flatMap(({ memory }, place) => {
    const vector = vectors.get(memory.id);
    return vector ? [{ memory, vector, place }] : [];
  });
  const found = new Set<string>();
  for (const a of placed.filter(({ place }) => place < ANCHORS)) {
    for (const b of placed) {
      if (a === b || !isComparable(a, b, cosineOf(a.vector, b.vector))) continue;
      found.add(a.memory.id);
      found.add(b.memory.id);
    }
  }
  return [...found];
}

/** Moves a version to the place of another one, unless it has a better one. */
function putFirst<Result extends Versioned>(
  ordered: (Result & VersionMarks)[],
  best: Versioned,
  wanted: Versioned,
): void {
  const placeOf = (one: Versioned) => ordered.findIndex(({ memory }) => memory === one.memory);
  const [place, from] = [placeOf(best), placeOf(wanted)];
  if (from <= place) return;
  const [moved] = ordered.splice(from, 1);
  // Results are ordered by score, so it gets the score of its new place.
  if (moved) ordered.splice(place, 0, { ...moved, score: best.score, chance: best.chance });
}

/**
 * Marks the older versions, and the newest with their ids, if they surely are versions: to call the truth outdated is worse.
 * @param versions the oldest first
 */
function mark<Result extends Versioned>(
  ordered: (Result & VersionMarks)[],
  versions: readonly Result[],
  isSure: (one: Result) => boolean,
): void {
  const newest = versions.at(-1);
  if (!newest || !isSure(newest)) return;
  const older = versions
    .slice(0, -1)
    .filter(isSure)
    .map(({ memory }) => memory.id);
  if (older.length === 0) return;
  for (const [at, one] of ordered.entries()) {
    if (one.memory === newest.memory) ordered[at] = { ...one, replaces: older.toReversed() };
    else if (older.includes(one.memory.id)) ordered[at] = { ...one, newer: newest.memory.id };
  }
}
