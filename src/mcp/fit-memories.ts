import type { FoundMemory } from "../memories/found-memory.ts";
import type { Memory } from "../memories/memory.ts";
import {
  describeMemory,
  excerpt,
  excerptAround,
  type ShownMemory,
  wholeMemory,
} from "./memory-text.ts";

/** Characters of English that make about one token. */
const CHARACTERS_PER_TOKEN = 4;
/** Less of a content says too little: then whole entries are left out instead. */
const SHORTEST_EXCERPT = 200;
/** Between entries. */
const GAP = "\n\n";

/** What of a result fits into a number of tokens. */
export interface Fitted {
  entries: ShownMemory[];
  /** Entries at the end that did not fit at all. */
  leftOut: number;
}

interface Limits {
  maxTokens: number;
  /** Characters of a content at the most. */
  longest?: number;
}

/** What of a list is shown where a call does not say how much. */
export const PAGE_LIMITS: Limits = { maxTokens: 2_000 };
/** The same of what a search found: of a long content, some sentences around what made it match. */
export const SEARCH_LIMITS: Limits = { maxTokens: 2_000, longest: 1_200 };

/**
 * Makes memories fit into so many tokens: long contents are cut to an equal share, which leaves
 * short ones whole; where the shares get too small, memories are dropped from the end.
 */
export function fitMemories(
  memories: readonly (Memory | FoundMemory)[],
  { maxTokens, longest = Number.POSITIVE_INFINITY }: Limits,
): Fitted {
  const budget = maxTokens * CHARACTERS_PER_TOKEN;
  for (let count = memories.length; count > 0; count--) {
    const kept = memories.slice(0, count);
    const room = budget - kept.reduce((sum, memory) => sum + sizeAround(memory), 0);
    const share = equalShare(
      kept.map(({ content }) => Math.min(content.length, longest)),
      room,
    );
    if (share >= SHORTEST_EXCERPT) {
      const most = Math.min(share, longest);
      return {
        entries: kept.map((memory) => shorten(memory, most)),
        leftOut: memories.length - count,
      };
    }
  }
  return { entries: [], leftOut: memories.length };
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

/** Of what a search found, the part is left that made it match. */
function shorten(memory: Memory | FoundMemory, most: number): ShownMemory {
  if (memory.content.length <= most) return wholeMemory(memory);
  const content =
    "matched" in memory
      ? excerptAround(memory.content, memory.matched, most)
      : excerpt(memory.content, most);
  return { memory, content, isCut: true };
}

function sizeAround(memory: Memory | FoundMemory): number {
  return describeMemory({ memory, content: "", isCut: true }).length + GAP.length;
}
