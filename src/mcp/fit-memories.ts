import type { FoundMemory } from "../memories/model/found-memory.ts";
import type { Memory } from "../memories/model/memory.ts";
import { indent } from "../text/plain-text.ts";
import { excerpt } from "../text/short-text.ts";
import { describeMemory, excerptAround, type ShownMemory, wholeMemory } from "./memory-text.ts";

/** Average characters per token in English. */
const CHARACTERS_PER_TOKEN = 4;
/** A shorter excerpt says too little: then whole memories are left out instead. */
const MIN_EXCERPT = 200;
/** Separates memories in a text. */
const SEPARATOR = "\n\n";

/** The memories of a result that fit into a number of tokens. */
export interface FittedMemories {
  shown: ShownMemory[];
  /** How many memories at the end did not fit. */
  omitted: number;
}

interface Limits {
  maxTokens: number;
  /** Most characters of one content; no limit by default. */
  maxContent?: number;
}

/** Limits of a list, unless the call gives its own. */
export const LIST_LIMITS: Limits = { maxTokens: 2_000 };
/** Limits of search results, unless the call gives its own: a long content is cut to what matched. */
export const SEARCH_LIMITS: Limits = { maxTokens: 2_000, maxContent: 1_200 };

/**
 * Makes memories fit into a number of tokens. Long contents are cut to an equal share; short ones
 * stay whole. When the shares become too small, memories are dropped from the end.
 */
export function fitMemories(
  memories: readonly (Memory | FoundMemory)[],
  { maxTokens, maxContent = Number.POSITIVE_INFINITY }: Limits,
): FittedMemories {
  const budget = maxTokens * CHARACTERS_PER_TOKEN;
  const sizes = memories.map(({ content }) => indent(content).length);
  for (let count = memories.length; count > 0; count--) {
    const kept = memories.slice(0, count);
    const forContents = budget - kept.reduce((sum, memory) => sum + sizeWithoutContent(memory), 0);
    const share = equalShare(
      sizes.slice(0, count).map((size) => Math.min(size, maxContent)),
      forContents,
    );
    if (share >= MIN_EXCERPT) {
      const limit = Math.min(share, maxContent);
      return {
        shown: kept.map((memory, place) => shorten(memory, sizes[place] ?? 0, limit)),
        omitted: memories.length - count,
      };
    }
  }
  return { shown: [], omitted: memories.length };
}

/** The largest limit per content with which all contents together fit into the budget. */
function equalShare(sizes: readonly number[], budget: number): number {
  const ascending = [...sizes].sort((a, b) => a - b);
  let remaining = budget;
  for (const [index, size] of ascending.entries()) {
    const share = Math.floor(remaining / (ascending.length - index));
    if (size > share) return share;
    remaining -= size;
  }
  return Number.POSITIVE_INFINITY;
}

/**
 * Cuts a content to its beginning; a search result to the text around its matched passage.
 * @param size characters of the content as it is shown
 */
function shorten(memory: Memory | FoundMemory, size: number, limit: number): ShownMemory {
  if (size <= limit) return wholeMemory(memory);
  const length = Math.floor((limit * memory.content.length) / size);
  const content =
    "matched" in memory
      ? excerptAround(memory.content, memory.matched, length)
      : excerpt(memory.content, length);
  return { memory, content, isCut: true };
}

function sizeWithoutContent(memory: Memory | FoundMemory): number {
  return describeMemory({ memory, content: "", isCut: true }).length + SEPARATOR.length;
}
