import type { Decay } from "../config.ts";
import type { EmbeddingModel } from "../embedding/embedder.ts";
import type { Explanation } from "./memory.ts";
import { cosineOf } from "./ranking/cosine.ts";
import { readQuestion } from "./ranking/hints.ts";
import { contexts } from "./ranking/neighbours.ts";
import { isOf, type Period, readPeriod } from "./ranking/period.ts";
import { favour, fullMatch, meaningScore, wordsScore } from "./ranking/relevance.ts";
import { retention } from "./ranking/retention.ts";
import { wordsTogether } from "./ranking/together.ts";
import { contentWords, countContentWords, hasAll } from "./ranking/words.ts";
import type { Candidate, MemoryRow } from "./rows.ts";

export const SEARCH_MODES = ["hybrid", "semantic", "keyword"] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

/** How much words count beside the meaning. From the evaluation sets: 0.35 to 0.5 rank alike. */
const WORDS_WEIGHT = { hybrid: 0.4, semantic: 0, keyword: 1 };
/** The best candidates whose sessions are looked at, and of which the wording is read. */
const LEADERS = 10;
const READ = 40;
/**
 * What a memory of the time that a question names has ahead, and what is left of the others. Of 409
 * questions on conversations 36 name one: these take recall of the first ten of all of them from
 * 0.815 to 0.827, and of the first from 0.464 to 0.480. To look for more of that time did no better.
 */
const OF_PERIOD = 1;
const OF_OTHER_TIMES = 0.6;

/** What a ranking goes by besides the memories. */
export interface Question {
  text: string;
  /** `null` in keyword mode. */
  vector: Float32Array | null;
  mode: SearchMode;
  model: Pick<EmbeddingModel, "cosines">;
  /** Rows of the table, for what a word's rareness is worth. */
  rows: number;
  /** Milliseconds since 1970. */
  now: number;
  /** `null` ranks without regard to age. */
  decay: Decay | null;
}

/** A memory with its place in the result. */
export interface Ranked {
  id: string;
  score: number;
  explanation: Explanation;
  /** The memory, unless only a further passage of it was found. */
  row: MemoryRow | null;
}

/** Sessions whose memories are needed to rank, and memories found without their text. */
export interface Wanted {
  sessions: string[];
  ids: string[];
}

/** What is worth reading besides the candidates before they are ranked. */
export function wantedFor(found: readonly Candidate[], question: Question, limit: number): Wanted {
  const best = [...assess(found, question).values()].sort(bestFirst);
  const sessions = best.slice(0, LEADERS).flatMap(({ sessionId }) => sessionId ?? []);
  const ids = best.slice(0, Math.max(READ, limit)).filter(({ memory }) => !memory);
  return { sessions: [...new Set(sessions)], ids: ids.map(({ id }) => id) };
}

/**
 * Merges what was found and puts the best first; equals go by newest, then id. A memory's score
 * does not depend on the others, except on those beside it in its session.
 * @param turns those of the candidates that are in the wanted sessions, all of them
 */
export function rank(
  candidates: readonly Candidate[],
  turns: readonly Candidate[],
  question: Question,
): Ranked[] {
  const known = assess(candidates, question);
  const assessed = [...known.values()];
  const around = contexts(turns, (id) => known.get(id)?.relevance ?? 0);
  const hintsOf = readQuestion(question.text);
  const wordsAsked = [...new Set(contentWords(question.text))];
  const weights = weightsOf(question);
  const period = periodOf(question, assessed);

  const weigh = (memory: Assessed, row: MemoryRow | null): Ranked => {
    const hints = row ? hintsOf(row) : { favour: 0, asks: 1, substance: 0.5 };
    const { meaning } = memory;
    const words = row
      ? Math.max(memory.words, wordsTogether(row.content, wordsAsked))
      : memory.words;
    const context = (around.get(memory.id) ?? 0) * hints.substance;
    const own = weights.meaning * meaning + weights.words * words;
    const lifted = own + (1 - own) * context;
    const isTimely = period !== null && isOf(period, memory.createdAt);
    const share = period === null || isTimely ? 1 : OF_OTHER_TIMES;
    const ahead = hints.favour + (isTimely ? OF_PERIOD : 0);
    const relevance = favour(lifted * hints.asks * share, ahead);
    const { decay, now } = question;
    const kept = decay ? retention(now - memory.updatedAt, memory.importance, decay) : 1;
    const score = round(relevance * (1 - weights.decay + weights.decay * kept));
    const explanation = { meaning, words, context, relevance, retention: kept, weights };
    return { id: memory.id, score, explanation, row };
  };

  const ranked = assessed
    // What only stands beside a match was not found by its words.
    .filter(({ relevance }) => question.mode !== "keyword" || relevance > 0)
    .map((memory) => ({ memory, ranked: weigh(memory, null) }))
    .sort(inOrder);
  return ranked
    .map(({ memory, ranked }, place) => ({
      memory,
      // Reading takes time, and of the last nothing will be shown.
      ranked: place < READ && memory.memory ? weigh(memory, memory.memory) : ranked,
    }))
    .sort(inOrder)
    .map(({ ranked }) => ranked);
}

/** The time that is asked about, if anything that was found is of it. */
function periodOf({ text, now }: Question, found: readonly Assessed[]): Period | null {
  const period = readPeriod(text, now);
  return period && found.some(({ createdAt }) => isOf(period, createdAt)) ? period : null;
}

function inOrder(a: { memory: Assessed; ranked: Ranked }, b: { memory: Assessed; ranked: Ranked }) {
  return b.ranked.score - a.ranked.score || newestFirst(a.memory, b.memory);
}

/** A memory and what it is worth by itself. */
interface Assessed extends Pick<Candidate, "id" | "sessionId" | "importance" | "createdAt"> {
  updatedAt: number;
  meaning: number;
  words: number;
  relevance: number;
  memory: MemoryRow | null;
}

/** One entry a memory, by its id, with its best passage's meaning and its words. */
function assess(candidates: readonly Candidate[], question: Question): Map<string, Assessed> {
  const { cosines } = question.model;
  const full = fullMatchFor(candidates, question);
  const weights = weightsOf(question);
  const merged = new Map<string, Assessed>();
  for (const candidate of candidates) {
    const cosine = cosineOf(candidate, question.vector);
    const meaning = cosine === null ? 0 : meaningScore(cosine, cosines);
    const words = wordsScore(candidate.bm25, full);
    const known = merged.get(candidate.id);
    if (known) {
      known.meaning = Math.max(known.meaning, meaning);
      known.words = Math.max(known.words, words);
      known.memory ??= candidate.memory;
      known.relevance = weights.meaning * known.meaning + weights.words * known.words;
    } else {
      const { id, sessionId, importance, createdAt, updatedAt, memory } = candidate;
      const relevance = weights.meaning * meaning + weights.words * words;
      const own = { meaning, words, relevance };
      merged.set(id, { id, sessionId, importance, createdAt, updatedAt, memory, ...own });
    }
  }
  return merged;
}

/** That of the best match by words if it has them all, since no memory can match better. */
function fullMatchFor(candidates: readonly Candidate[], { text, rows }: Question): number {
  const expected = fullMatch(countContentWords(text), rows);
  const best = candidates.reduce<Candidate | null>(
    (found, candidate) => (candidate.bm25 > (found?.bm25 ?? 0) ? candidate : found),
    null,
  );
  if (!best?.memory || best.bm25 >= expected) return expected;
  return hasAll(best.memory.content, contentWords(text)) ? best.bm25 : expected;
}

function weightsOf({ mode, decay }: Question): Explanation["weights"] {
  const words = WORDS_WEIGHT[mode];
  return { meaning: 1 - words, words, decay: decay?.depth ?? 0 };
}

function bestFirst(a: Assessed, b: Assessed) {
  return b.relevance - a.relevance || newestFirst(a, b);
}

function newestFirst(a: Assessed, b: Assessed) {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}

/** Scores are compared as they are shown, so that equals are equal to the client too. */
function round(score: number) {
  return Math.round(score * 10_000) / 10_000;
}
