import type { Term } from "../../src/memories/indexes/words.ts";

/** What the words of a question that a text has come to. */
export function bm25Of({ matches }: { matches: Float32Array }, terms: readonly Term[]): number {
  return terms.reduce((sum, { rareness }, at) => sum + rareness * (matches[at] ?? 0), 0);
}
