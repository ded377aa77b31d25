import { stemOf } from "./words.ts";

/** Characters from which on BM25 makes too little of one sentence among many. */
const LONG = 2_000;
/** Characters in which words stand together: two or three sentences. */
const SPAN = 400;
/** What all words of a question together in one place of a long text are worth, 0 to 1. */
const ALL_TOGETHER = 0.8;

/**
 * How many of some words a long text has in one place, 0 to 1, fewer counting less than their share;
 * 0 for a short text. BM25 divides by length: a text of 30,000 characters that answers in its last
 * sentence has a tenth of the score of the sentence alone.
 */
export function wordsTogether(text: string, words: readonly string[]): number {
  if (text.length < LONG || words.length < 2) return 0;
  const lower = text.toLowerCase();
  const places = words
    .flatMap((word, index) => placesOf(lower, stemOf(word)).map((place) => ({ place, index })))
    .sort((a, b) => a.place - b.place);
  const within = new Map<number, number>();
  let most = 0;
  let first = 0;
  for (const { place, index } of places) {
    within.set(index, (within.get(index) ?? 0) + 1);
    for (; place - (places[first]?.place ?? place) > SPAN; first++) {
      const left = places[first]?.index ?? 0;
      const count = (within.get(left) ?? 1) - 1;
      if (count === 0) within.delete(left);
      else within.set(left, count);
    }
    most = Math.max(most, within.size);
  }
  return ALL_TOGETHER * (most / words.length) ** 2;
}

/** Where a stem is. */
function placesOf(text: string, stem: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(stem); at >= 0; at = text.indexOf(stem, at + stem.length)) {
    places.push(at);
  }
  return places;
}
