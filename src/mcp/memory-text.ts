import { edgeAfter, edgeBefore } from "../memories/matched/boundaries.ts";
import type { FoundMemory, Matched } from "../memories/model/found-memory.ts";
import type { Memory } from "../memories/model/memory.ts";
import { indent, showHidden } from "../text/plain-text.ts";
import { excerpt, formatDate, unitsOf } from "../text/short-text.ts";

/** A memory as a result shows it: with the part of its text that is shown, and whether text is missing. */
type ShownMemory = ReturnType<typeof wholeMemory>;

/** A memory with its whole text. */
export function wholeMemory(memory: Memory | FoundMemory) {
  return { memory, content: memory.content, isCut: false };
}

/** Where a memory is, for the end of a sentence: empty outside of spaces. */
export function placeText({ space }: Pick<Memory, "space">): string {
  return space ? ` in the space ${labelText(space)}` : "";
}

/** A label among the facts of a memory, quoted if it could be taken for several facts. */
export function labelText(label: string): string {
  const shown = showHidden(label);
  return shown.includes("·") ? JSON.stringify(shown) : shown;
}

/**
 * A memory as a model reads it: one line of facts, then its indented text, which can't pass for another
 * memory. To save tokens, empty fields and default values are left out.
 */
export function describeMemory({ memory, content }: ShownMemory): string {
  const { source, updated_at, importance, pinned } = memory;
  const facts = [
    memory.id,
    "score" in memory && `score ${memory.score.toFixed(2)}`,
    "newer" in memory && memory.newer && `there is a newer one: ${memory.newer}`,
    "replaces" in memory && memory.replaces && `replaces ${memory.replaces.join(", ")}`,
    "alike" in memory && memory.alike && `and ${memory.alike.length} more like it`,
    memory.superseded_by && `superseded by ${memory.superseded_by}`,
    formatDate(memory.created_at),
    updated_at !== memory.created_at &&
      `changed ${memory.changed_since ? "since, " : ""}${formatDate(updated_at)}`,
    importance !== 0.5 && `importance ${importance}`,
    memory.tags.length > 0 && `tags: ${memory.tags.map(labelText).join(", ")}`,
    memory.agent_id && `agent: ${labelText(memory.agent_id)}`,
    memory.session_id && `session: ${labelText(memory.session_id)}`,
    memory.project && `project: ${labelText(memory.project)}`,
    memory.space && `in the space ${labelText(memory.space)}`,
    pinned && "pinned",
    memory.expires_at && `expires ${formatDate(memory.expires_at)}`,
    memory.supersedes && `supersedes ${memory.supersedes}`,
    // The ids of credentials are long and mean nothing to a model.
    source && `${source.via === "capture" ? "captured " : ""}by ${labelText(source.by)}`,
  ].filter((fact) => typeof fact === "string");
  return `${facts.join(" · ")}\n${indent(content)}`;
}

/** The part of a text around a passage, with `…` where text is left out. At most `length` characters. */
export function excerptAround(content: string, passage: Matched, length: number): string {
  const found = unitsOf(content)(passage.start);
  const window = Math.max(0, length - 2);
  const needed = Math.min(passage.text.length, window);
  // A third of the context precedes the passage, the rest follows. Near an end of the text, the other
  // side gets more.
  const before = Math.floor((window - needed) / 3);
  const earliest = Math.max(0, Math.min(found - before, content.length - window));
  const start = edgeAfter(content, earliest, found);
  const latest = Math.min(content.length, start + window);
  const end = edgeBefore(content, latest, Math.min(latest, found + needed));
  return `${start > 0 ? "…" : ""}${content.slice(start, end)}${end < content.length ? "…" : ""}`;
}

/** Average characters per token in English. */
const CHARACTERS_PER_TOKEN = 4;
/** A shorter excerpt says too little: then whole memories are left out instead. */
const MIN_EXCERPT = 200;
/** Separates memories in a text. */
const SEPARATOR = "\n\n";

export type FittedMemories = ReturnType<typeof fitMemories>;

interface Limits {
  maxTokens: number;
  /** Most characters of one content; no limit by default. */
  maxContent?: number;
}

/** The newest memories where a person asks for them, and the best ones for a task. */
export const RECENT = 20;

/** Limits of a list, unless the call gives its own. */
export const LIST_LIMITS: Limits = { maxTokens: 2_000 };
/** Limits of search results, unless the call gives its own: a long content is cut to what matched. */
export const SEARCH_LIMITS: Limits = { maxTokens: 2_000, maxContent: 1_200 };

/**
 * Makes memories fit into a number of tokens. Long contents are cut to an equal share; short ones
 * stay whole. When the shares become too small, memories are dropped from the end.
 * @param asked tokens that the call asks for, instead of the limits
 * @returns the memories that fit, and how many at the end did not
 */
export function fitMemories(
  memories: readonly (Memory | FoundMemory)[],
  limits: Limits,
  asked?: number,
) {
  const { maxTokens, maxContent = Number.POSITIVE_INFINITY } = asked
    ? { maxTokens: asked }
    : limits;
  const budget = maxTokens * CHARACTERS_PER_TOKEN;
  const sizes = memories.map(({ content }) => indent(content).length);
  const others = memories.map(sizeWithoutContent);
  let forContents = budget - others.reduce((sum, size) => sum + size, 0);
  for (let count = memories.length; count > 0; count--) {
    const share = equalShare(
      sizes.slice(0, count).map((size) => Math.min(size, maxContent)),
      forContents,
    );
    if (share >= MIN_EXCERPT) {
      const limit = Math.min(share, maxContent);
      const kept = memories.slice(0, count);
      return {
        shown: kept.map((memory, place) => shorten(memory, sizes[place] ?? 0, limit)),
        omitted: memories.length - count,
      };
    }
    forContents += others[count - 1] ?? 0;
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
