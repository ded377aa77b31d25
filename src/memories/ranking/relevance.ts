import type { EmbeddingModel } from "../../embedding/embedder.ts";

/** A cosine on a scale from 0, as unrelated texts have it, to 1, as the same text has it. */
export function meaningScore(cosine: number, { unrelated, same }: EmbeddingModel["cosines"]) {
  return within((cosine - unrelated) / (same - unrelated));
}

/** What a word of a question adds to a good match, as a share of what the rarest word adds. */
const TYPICAL_WORD = 0.65;

/**
 * The BM25 that counts as a full match of a question: not the best one found, which would make a
 * full match of any stray word. A typical word adds 0.65 of the idf that a word in a single memory
 * has, ln(1 + (N − 0.5) / 1.5) (Robertson & Zaragoza, "The Probabilistic Relevance Framework", 2009,
 * section 3.4, with Lucene's 1 +). The share was 0.58 to 0.75 in tables of 369 to 1,468 memories,
 * and anything from 0.5 to 0.8 ranks alike.
 * @param words content words of the question
 * @param rows of the table
 */
export function fullMatch(words: number, rows: number): number {
  const rarest = Math.log(1 + (Math.max(1, rows) - 0.5) / 1.5);
  return TYPICAL_WORD * rarest * Math.max(1, words);
}

/** BM25 on a scale from 0 to 1, that of a full match. */
export function wordsScore(bm25: number, full: number): number {
  return within(bm25 / full);
}

function within(score: number): number {
  return Math.min(1, Math.max(0, score));
}
