import type { Decay } from "../../config.ts";
import type { EmbeddingModel } from "../../embedding/embedder.ts";
import type { Explanation } from "../memory.ts";
import type { Candidate, MemoryRow } from "../rows.ts";
import { readQuestion } from "./hints.ts";
import { contexts } from "./neighbours.ts";
import { isOf, type Period, readPeriod } from "./period.ts";
import { favour, fullMatch, meaningScore, wordsScore } from "./relevance.ts";
import { retention } from "./retention.ts";
import { wordsTogether } from "./together.ts";
import { contentWords, countContentWords, hasAll } from "./words.ts";

export const SEARCH_MODES = ["hybrid", "semantic", "keyword"] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

/** How much words count beside the meaning. From the evaluation sets: 0.35 to 0.5 rank alike. */
const WORDS_WEIGHT = { hybrid: 0.4, semantic: 0, keyword: 1 };
/** The best candidates whose sessions are looked at, and of which the wording is read. */
const BEST = 10;
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
  mode: SearchMode;
  model: Pick<EmbeddingModel, "cosines">;
  /** Memories of the account, for what a word's rareness is worth. */
  memories: number;
  /** Milliseconds since 1970. */
  now: number;
  /** `null` ranks without regard to age. */
  decay: Decay | null;
}

/** A memory with its place in the result. */
export interface Ranked {
  memory: MemoryRow;
  score: number;
  explanation: Explanation;
}

/** Sessions of the best candidates, whose other memories are needed to rank. */
export function sessionsAround(found: readonly Candidate[], question: Question): string[] {
  const best = [...assess(found, question).values()].sort(bestFirst).slice(0, BEST);
  return [...new Set(best.flatMap(({ memory }) => memory.sessionId ?? []))];
}

/**
 * Merges what was found and puts the best first; equals go by newest, then id. A memory's score
 * does not depend on the others, except on those beside it in its session.
 * @param turns those of the candidates that are in the sessions around the best, all of them
 */
export function rank(
  candidates: readonly Candidate[],
  turns: readonly Candidate[],
  question: Question,
): Ranked[] {
  const known = assess(candidates, question);
  const assessed = [...known.values()];
  const around = contexts(
    turns.map(({ memory }) => memory),
    (id) => known.get(id)?.relevance ?? 0,
  );
  const hintsOf = readQuestion(question.text);
  const wordsAsked = [...new Set(contentWords(question.text))];
  const weights = weightsOf(question);
  const period = periodOf(question, assessed);

  /** @param isRead whether its wording counts */
  const weigh = ({ memory, meaning, words: found }: Assessed, isRead: boolean): Ranked => {
    const hints = isRead ? hintsOf(memory) : { favour: 0, asks: 1, substance: 0.5 };
    const words = isRead ? Math.max(found, wordsTogether(memory.content, wordsAsked)) : found;
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
    return { memory, score, explanation };
  };

  return (
    assessed
      // What only stands beside a match was not found by its words.
      .filter(({ relevance }) => question.mode !== "keyword" || relevance > 0)
      .map((found) => ({ found, ranked: weigh(found, false) }))
      .sort(inOrder)
      // Reading takes time, and of the last nothing will be shown.
      .map(({ found, ranked }, place) => ({
        found,
        ranked: place < READ ? weigh(found, true) : ranked,
      }))
      .sort(inOrder)
      .map(({ ranked }) => ranked)
  );
}

/** The time that is asked about, if anything that was found is of it. */
function periodOf({ text, now }: Question, found: readonly Assessed[]): Period | null {
  const period = readPeriod(text, now);
  return period && found.some(({ memory }) => isOf(period, memory.createdAt)) ? period : null;
}

function inOrder(a: { found: Assessed; ranked: Ranked }, b: { found: Assessed; ranked: Ranked }) {
  return b.ranked.score - a.ranked.score || newestFirst(a.found.memory, b.found.memory);
}

/** A memory and what it is worth by itself. */
interface Assessed {
  memory: MemoryRow;
  meaning: number;
  words: number;
  relevance: number;
}

/** One entry a memory, by its id: it may come as a candidate and as one of a session. */
function assess(candidates: readonly Candidate[], question: Question): Map<string, Assessed> {
  const { cosines } = question.model;
  const full = fullMatchFor(candidates, question);
  const weights = weightsOf(question);
  const merged = new Map<string, Assessed>();
  for (const { memory, cosine, bm25 } of candidates) {
    const known = merged.get(memory.id);
    const meaning = cosine === null ? 0 : meaningScore(cosine, cosines);
    const words = Math.max(known?.words ?? 0, wordsScore(bm25, full));
    const relevance = weights.meaning * meaning + weights.words * words;
    merged.set(memory.id, { memory, meaning, words, relevance });
  }
  return merged;
}

/** That of the best match by words if it has them all, since no memory can match better. */
function fullMatchFor(candidates: readonly Candidate[], { text, memories }: Question): number {
  const expected = fullMatch(countContentWords(text), memories);
  const best = candidates.reduce<Candidate | null>(
    (found, candidate) => (candidate.bm25 > (found?.bm25 ?? 0) ? candidate : found),
    null,
  );
  if (!best || best.bm25 >= expected) return expected;
  return hasAll(best.memory.content, contentWords(text)) ? best.bm25 : expected;
}

function weightsOf({ mode, decay }: Question): Explanation["weights"] {
  const words = WORDS_WEIGHT[mode];
  return { meaning: 1 - words, words, decay: decay?.depth ?? 0 };
}

function bestFirst(a: Assessed, b: Assessed) {
  return b.relevance - a.relevance || newestFirst(a.memory, b.memory);
}

function newestFirst(a: MemoryRow, b: MemoryRow) {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}

/** Scores are compared as they are shown, so that equals are equal to the client too. */
function round(score: number) {
  return Math.round(score * 10_000) / 10_000;
}
