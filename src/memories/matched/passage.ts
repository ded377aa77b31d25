import type { Term } from "../indexes/words.ts";
import { edgeAfter, edgeBefore, sentenceEnds, trimmed, wordAfter } from "./boundaries.ts";
import { createFinder, type Hits } from "./term-finder.ts";

/** Characters of a passage at the most. */
export const PASSAGE = 400;
/**
 * UTF-16 units in which words are looked for together; the rest is for the sentences around. Of
 * long texts made of 60 turns of conversations, 200 find the turn that answers best, 150 to 240 alike.
 */
const TOGETHER = 200;
/**
 * What is left of words that are far from each other, and of words outside of the nearest passage. 0.5 to
 * 0.9 of the latter do alike: they find 4 % more of what users told assistants than 1.
 */
const FAR = 0.9;
const ELSEWHERE = 0.8;

/** A part of a text, in UTF-16 units, without its end. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

/**
 * Makes what finds the part of a text that answers a question, of at most 400 characters: where the most
 * of its terms are together, rare ones counting for more, with the sentences around. It is all of a short
 * text, and the beginning where no term is found.
 * @param nearest the passage whose meaning is nearest, if it is known: its words count more
 */
export function createPassageFinder(terms: readonly Term[]) {
  let find: ((text: string) => Hits) | null = null;
  return (text: string, nearest?: Part): Part => {
    if (isShort(text)) return { start: 0, end: text.length };
    find ??= createFinder(terms);
    const hits = find(text);
    const core = bestPlace(hits, weigh(hits, terms, text.length), nearest);
    const start = wordAfter(text, nearest?.start ?? 0);
    return withSentences(text, core ?? { start, end: start + 1 });
  };
}

function isShort(text: string): boolean {
  if (text.length <= PASSAGE) return true;
  return text.length <= 2 * PASSAGE && [...text].length <= PASSAGE;
}

/** What each term is worth: the fewer memories and places of the text have it, the more. */
function weigh({ terms: places }: Hits, terms: readonly Term[], length: number): Float64Array {
  const counts = new Int32Array(terms.length);
  for (const term of places) counts[term] = (counts[term] ?? 0) + 1;
  return Float64Array.from(terms, ({ rareness }, term) => {
    const count = Math.max(1, counts[term] ?? 0);
    return rareness * Math.log(1 + length / TOGETHER / count);
  });
}

/** The shortest part with the most of the words; null when none is there. */
function bestPlace(
  { starts, ends, terms }: Hits,
  weights: Float64Array,
  nearest: Part | undefined,
): Part | null {
  const counts = new Int32Array(weights.length);
  let sum = 0;
  let first = 0;
  let best: Part | null = null;
  let most = -1;
  for (let last = 0; last < terms.length; last++) {
    const term = terms[last] ?? 0;
    const end = ends[last] ?? 0;
    if (counts[term] === 0) sum += weights[term] ?? 0;
    counts[term] = (counts[term] ?? 0) + 1;
    for (; first < last; first++) {
      const left = terms[first] ?? 0;
      const others = (counts[left] ?? 0) - 1;
      if (others === 0) {
        if (end - (starts[first] ?? 0) <= TOGETHER) break;
        sum -= weights[left] ?? 0;
      }
      counts[left] = others;
    }
    const start = starts[first] ?? 0;
    const isNear = !nearest || (start < nearest.end && end > nearest.start);
    const far = 1 - (1 - FAR) * ((end - start) / TOGETHER);
    const worth = sum * (isNear ? 1 : ELSEWHERE) * far;
    if (worth > most) {
      most = worth;
      best = { start, end };
    }
  }
  return best;
}

/**
 * A place with its sentences, or its line if that is short enough, and with whole sentences around as
 * far as there is room: what follows first, as it says more.
 */
function withSentences(text: string, core: Part): Part {
  const from = Math.max(0, core.end - PASSAGE);
  const to = Math.min(text.length, core.start + PASSAGE);
  const ends = sentenceEnds(text, from, to);
  if (from === 0) ends.unshift(0);
  if (to === text.length) ends.push(to);

  let { start, end } = sentencesOf(text, core, ends);
  const isLine = (place: number) =>
    place === 0 || place === text.length || text[place - 1] === "\n";
  const lineStart = ends.findLast((place) => place <= start && isLine(place));
  const lineEnd = ends.find((place) => place >= end && isLine(place));
  if (lineStart !== undefined && lineEnd !== undefined && lineEnd - lineStart <= PASSAGE) {
    start = lineStart;
    end = lineEnd;
  }
  for (const next of ends) if (next > end && next - start <= PASSAGE) end = next;
  for (const previous of ends.toReversed()) {
    if (previous < start && end - previous <= PASSAGE) start = previous;
  }
  return trimmed(text, start, end);
}

/** A place with the rest of its sentences; as many words as there is room for where they are long. */
function sentencesOf(text: string, core: Part, ends: readonly number[]): Part {
  const room = PASSAGE - (core.end - core.start);
  const middle = Math.max(0, core.start - Math.floor(room / 2));
  const start = ends.findLast((end) => end <= core.start) ?? edgeAfter(text, middle, core.start);
  const most = Math.min(text.length, start + PASSAGE);
  const end = ends.find((place) => place >= core.end && place <= most);
  return { start, end: end ?? edgeBefore(text, most, core.end) };
}
