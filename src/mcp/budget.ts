import type { FoundMemory, Matched } from "../memories/found-memory.ts";
import { type Entry, excerpt, excerptAround, toEntry } from "./entry.ts";

/** Characters of English that make about one token. */
const CHARACTERS_PER_TOKEN = 4;
/** Less of a content says too little: then whole entries are left out instead. */
const SHORTEST_EXCERPT = 200;

/** What of a result fits into a number of tokens. */
export interface Fitted {
  entries: Entry[];
  /** Entries at the end that did not fit at all. */
  leftOut: number;
}

/**
 * Makes entries fit into so many tokens: long contents are cut to an equal share, which leaves
 * short ones whole; where the shares get too small, entries are dropped from the end.
 * @param passages by the id of an entry: the part of its content that is not to be cut off
 */
export function fitEntries(
  entries: readonly Entry[],
  maxTokens: number,
  passages: ReadonlyMap<string, Matched> = new Map(),
): Fitted {
  const budget = maxTokens * CHARACTERS_PER_TOKEN;
  for (let count = entries.length; count > 0; count--) {
    const kept = entries.slice(0, count);
    const around = kept.map((entry) => sizeOf({ ...entry, content: "", cut: true }) + 1);
    const room = budget - around.reduce((sum, size) => sum + size, 0);
    const share = equalShare(
      kept.map(({ content }) => sizeOf(content)),
      room,
    );
    if (share >= SHORTEST_EXCERPT) {
      return {
        entries: kept.map((entry) => cut(entry, share, passages.get(entry.id))),
        leftOut: entries.length - count,
      };
    }
  }
  return { entries: [], leftOut: entries.length };
}

/** The same with what a search found: of a long content that part is left which made it match. */
export function fitFound(found: readonly FoundMemory[], maxTokens: number): Fitted {
  const passages = new Map(found.map(({ id, matched }) => [id, matched]));
  return fitEntries(found.map(toEntry), maxTokens, passages);
}

/** The largest share with which all together need no more than there is. */
function equalShare(sizes: readonly number[], room: number): number {
  const ascending = [...sizes].sort((a, b) => a - b);
  let left = room;
  for (const [index, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

function cut(entry: Entry, share: number, passage: Matched | undefined): Entry {
  if (sizeOf(entry.content) <= share) return entry;
  const shorten = (length: number) =>
    passage === undefined
      ? excerpt(entry.content, length)
      : excerptAround(entry.content, passage, length);
  let length = share;
  let content = shorten(length);
  // Characters that JSON has to escape take more than one: cut again until they fit as well.
  for (let size = sizeOf(content); size > share; size = sizeOf(content)) {
    length = Math.floor((length * share) / size);
    content = shorten(length);
  }
  return { ...entry, content, cut: true };
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}
