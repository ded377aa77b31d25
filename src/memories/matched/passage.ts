import { pairsIn } from "../../text/short-text.ts";
import type { Term } from "../indexes/words.ts";
import type { Matched } from "../model/found-memory.ts";
import { edgeAfter, edgeBefore, sentenceEnds, trimmed, wordAfter } from "./boundaries.ts";
import { createFinder, type Hits } from "./term-finder.ts";

/** Longest passage, in characters. */
const PASSAGE = 400;
/**
 * Longest part in which terms count as together, in UTF-16 units; the rest of the passage is for the sentences
 * around it. In long texts made of 60 turns of conversations, 200 finds the turn that answers best; 150 to 240 are
 * about as good.
 */
const TOGETHER = 200;
/** What terms keep of their worth when they are as far apart as `TOGETHER` allows. */
const FAR = 0.9;
/**
 * What terms keep of their worth outside the nearest passage. 0.5 to 0.9 are equally good: with them the
 * passage holds 4 % more of what users told assistants than with 1.
 */
const ELSEWHERE = 0.8;

/** A part of a text, in UTF-16 units; `end` is exclusive. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns a function that finds the part of a text that answers a question, at most 400 characters: the place with the
 * most terms, rare terms counting more, and the sentences around it. A short text is returned whole. Of a text
 * without any term, the beginning of the nearest passage is returned. Places are counted in code points, like the limits
 * of a memory.
 * @param terms the terms of the question
 */
export function createMatcher(terms: readonly Term[]) {
  let find: ((text: string) => Hits) | null = null;

  const partOf = (text: string, nearest?: Part): Part => {
    if (isShort(text)) return { start: 0, end: text.length };
    find ??= createFinder(terms);
    const hits = find(text);
    const core = bestPlace(hits, weigh(hits, terms, text.length), nearest);
    const start = wordAfter(text, nearest?.start ?? 0);
    return withSentences(text, core ?? { start, end: start + 1 });
  };

  return (text: string, nearest?: Part): Matched => {
    const part = partOf(text, nearest);
    const passage = text.slice(part.start, part.end);
    const start = part.start - pairsIn(text, 0, part.start);
    const end = start + passage.length - pairsIn(passage);
    return { text: passage, start, end };
  };
}

function isShort(text: string): boolean {
  if (text.length <= PASSAGE) return true;
  return text.length <= 2 * PASSAGE && [...text].length <= PASSAGE;
}

/** The worth of each term: the fewer memories and places of the text have it, the more it is worth. */
function weigh({ terms: places }: Hits, terms: readonly Term[], length: number): Float64Array {
  const counts = new Int32Array(terms.length);
  for (const term of places) counts[term] = (counts[term] ?? 0) + 1;
  return Float64Array.from(terms, ({ rareness }, term) => {
    const count = Math.max(1, counts[term] ?? 0);
    return rareness * Math.log(1 + length / TOGETHER / count);
  });
}

/**
 * The shortest part with the most valuable terms; null when the text has no term. A window moves over the
 * hits. It drops its first hits while their terms occur again in it, or while it is too long.
 */
function bestPlace(
  { starts, ends, terms }: Hits,
  weights: Float64Array,
  nearest: Part | undefined,
): Part | null {
  /** How often the window has each term. */
  const counts = new Int32Array(weights.length);
  const weightOf = (term: number) => weights[term] ?? 0;
  let sum = 0;
  let first = 0;
  let best: Part | null = null;
  let most = -1;
  for (const [last, term] of terms.entries()) {
    const end = ends[last] ?? 0;
    if (counts[term] === 0) sum += weightOf(term);
    counts[term] = (counts[term] ?? 0) + 1;
    for (; first < last; first++) {
      const dropped = terms[first] ?? 0;
      const others = (counts[dropped] ?? 0) - 1;
      if (others === 0 && end - (starts[first] ?? 0) <= TOGETHER) break;
      if (others === 0) sum -= weightOf(dropped);
      counts[dropped] = others;
    }
    const start = starts[first] ?? 0;
    const worth = worthOf(sum, start, end, nearest);
    if (worth > most) {
      most = worth;
      best = { start, end };
    }
  }
  return best;
}

/** What terms from `start` to `end` are worth: less when they are far apart or outside the nearest passage. */
function worthOf(sum: number, start: number, end: number, nearest: Part | undefined): number {
  const isNear = !nearest || (start < nearest.end && end > nearest.start);
  const far = 1 - (1 - FAR) * ((end - start) / TOGETHER);
  return sum * (isNear ? 1 : ELSEWHERE) * far;
}

/**
 * Extends a place to its sentences, or to its line if that is short enough, and by whole sentences around
 * it while there is room: first by those after it, since they say more.
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

/** Extends a place to whole sentences; where these are too long, by as many words as there is room for. */
function sentencesOf(text: string, core: Part, ends: readonly number[]): Part {
  const room = PASSAGE - (core.end - core.start);
  const middle = Math.max(0, core.start - Math.floor(room / 2));
  const start = ends.findLast((end) => end <= core.start) ?? edgeAfter(text, middle, core.start);
  const most = Math.min(text.length, start + PASSAGE);
  const end = ends.find((place) => place >= core.end && place <= most);
  return { start, end: end ?? edgeBefore(text, most, core.end) };
}
