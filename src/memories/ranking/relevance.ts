import type { EmbeddingModel } from "../../embedding/embedder.ts";

/** The chance for given log-odds, 0 to 1. */
export function chanceOf(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

/** @param least what counts as the least and, from 1 down, the most: 0 and 1 have no log-odds */
export function logOddsOf(chance: number, least = 0): number {
  const within = Math.min(1 - least, Math.max(least, chance));
  return Math.log(within / (1 - within));
}

/** A score as clients receive it. Scores are compared in this form, so that equal ones are equal to clients too. */
export function rounded(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}

/** Scales a cosine from 0 for unrelated texts to 1 for the same text. */
export function meaningScore(cosine: number, { unrelated, same }: EmbeddingModel["cosines"]) {
  return within((cosine - unrelated) / (same - unrelated));
}

/** The contribution of a typical word to a full match, as a share of that of the rarest word. */
const TYPICAL_WORD = 0.65;

/**
 * The BM25 score that counts as a full match of a question. The best score found can't serve for this: then a single
 * stray word would be a full match. A typical word adds 0.65 of the idf of a word in a single memory, which is
 * ln(1 + (N − 0.5) / 1.5) (Robertson & Zaragoza, "The Probabilistic Relevance Framework", 2009, section 3.4, with
 * Lucene's 1 +). The share was 0.58 to 0.75 in tables of 369 to 1,468 memories. Values from 0.5 to 0.8 rank alike.
 * @param words content words of the question
 * @param rows number of rows of the table
 */
export function fullMatch(words: number, rows: number): number {
  const rarest = Math.log(1 + (Math.max(1, rows) - 0.5) / 1.5);
  return TYPICAL_WORD * rarest * Math.max(1, words);
}

/** Scales a BM25 score from 0 to 1 for a full match. */
export function wordsScore(bm25: number, full: number): number {
  return within(bm25 / full);
}

function within(score: number): number {
  return Math.min(1, Math.max(0, score));
}
