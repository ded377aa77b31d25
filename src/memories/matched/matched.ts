import type { Matched } from "../found-memory.ts";
import type { Term } from "../indexes/words.ts";
import { createPassageFinder, type Part } from "./passage.ts";

/**
 * Makes what tells the part of a text that answers a question; see `createPassageFinder`. Its places
 * count code points, as the limits of a memory do.
 * @param terms of the question
 */
export function createMatcher(terms: readonly Term[]) {
  const find = createPassageFinder(terms);
  return (text: string, nearest?: Part): Matched => {
    const part = find(text, nearest);
    const passage = text.slice(part.start, part.end);
    const start = part.start - pairsIn(text, 0, part.start);
    const end = start + passage.length - pairsIn(passage, 0, passage.length);
    return { text: passage, start, end };
  };
}

/** How many characters of a well-formed text take two UTF-16 units. */
function pairsIn(text: string, start: number, end: number): number {
  let pairs = 0;
  for (let at = start; at < end; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xd800) pairs++;
  return pairs;
}
