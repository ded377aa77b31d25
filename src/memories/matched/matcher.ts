import { pairsIn } from "../../text/code-points.ts";
import type { Term } from "../indexes/words.ts";
import type { Matched } from "../model/found-memory.ts";
import { createPassageFinder, type Part } from "./passage.ts";

/**
 * Creates a function that finds the part of a text that answers a question; see `createPassageFinder`. Places are
 * counted in code points, like the limits of a memory.
 * @param terms the terms of the question
 */
export function createMatcher(terms: readonly Term[]) {
  const find = createPassageFinder(terms);
  return (text: string, nearest?: Part): Matched => {
    const part = find(text, nearest);
    const passage = text.slice(part.start, part.end);
    const start = part.start - pairsIn(text, 0, part.start);
    const end = start + passage.length - pairsIn(passage);
    return { text: passage, start, end };
  };
}
