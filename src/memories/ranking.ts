import type { EmbeddingModel } from "../embedding/embedder.ts";
import type { Candidate } from "./rows.ts";

export const SEARCH_MODES = ["hybrid", "semantic", "keyword"] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

/** How a search weighs what it knows. The weights come from an evaluation set, not from taste. */
const LEXICAL_WEIGHT = 0.4;
/** The share of its score that a memory loses when it is infinitely old. */
const DECAY_DEPTH = 0.25;
const HALF_LIFE_DAYS = { leastImportant: 30, mostImportant: 480 };
const DAY = 86_400_000;

/** A memory with its place in the result. */
export interface Ranked {
  id: string;
  score: number;
}

/**
 * Merges what the two legs of a search found and puts the best first; equals go by newest, then id.
 * @param query the query's vector, for candidates that only the words found; `null` without one
 * @param now milliseconds since 1970
 */
export function rank(
  candidates: readonly Candidate[],
  query: Float32Array | null,
  { cosines }: Pick<EmbeddingModel, "cosines">,
  mode: SearchMode,
  now: number,
): Ranked[] {
  const merged = mergeByMemory(candidates, query);
  const bestBm25 = Math.max(...merged.map(({ bm25 }) => bm25), Number.MIN_VALUE);
  const lexicalWeight = { hybrid: LEXICAL_WEIGHT, semantic: 0, keyword: 1 }[mode];
  return merged
    .map((candidate) => {
      const semantic = spread(candidate.cosine ?? cosines.unrelated, cosines);
      const lexical = candidate.bm25 / bestBm25;
      const relevance = (1 - lexicalWeight) * semantic + lexicalWeight * lexical;
      const kept = retention(now - candidate.updatedAt, candidate.importance);
      const score = round(relevance * (1 - DECAY_DEPTH + DECAY_DEPTH * kept));
      return { id: candidate.id, createdAt: candidate.createdAt, score };
    })
    .sort((a, b) => b.score - a.score || b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
    .map(({ id, score }) => ({ id, score }));
}

/** Scores are compared as they are shown, so that equals are equal to the client too. */
function round(score: number) {
  return Math.round(score * 10_000) / 10_000;
}

/**
 * What is left of a memory after `age` milliseconds: 2^(−age / half-life), 1 when it is new. The
 * half-life grows with importance from 30 days at 0 to 480 days at 1, exponentially between.
 */
export function retention(age: number, importance: number): number {
  const { leastImportant, mostImportant } = HALF_LIFE_DAYS;
  const halfLife = leastImportant * (mostImportant / leastImportant) ** importance * DAY;
  // A clock that was set back makes ages negative: such a memory is new.
  return 2 ** (-Math.max(0, age) / halfLife);
}

/** A cosine on a scale from 0, as unrelated texts have it, to 1, as the same text has it. */
function spread(cosine: number, { unrelated, same }: EmbeddingModel["cosines"]) {
  return Math.min(1, Math.max(0, (cosine - unrelated) / (same - unrelated)));
}

/** One candidate a memory, with its best passage's cosine and its BM25. */
function mergeByMemory(candidates: readonly Candidate[], query: Float32Array | null) {
  const merged = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const known = merged.get(candidate.id) ?? candidate;
    merged.set(candidate.id, {
      ...known,
      cosine: best(known.cosine, cosineOf(candidate, query)),
      bm25: Math.max(known.bm25, candidate.bm25),
    });
  }
  return [...merged.values()];
}

function best(a: number | null, b: number | null) {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

function cosineOf({ cosine, vector }: Candidate, query: Float32Array | null) {
  return cosine ?? (vector && query ? dot(vector, query) : null);
}

function dot(a: Float32Array, b: Float32Array) {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}
