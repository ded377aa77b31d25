import type { FoundMemory } from "../memories/model/found-memory.ts";
import type { Memory } from "../memories/model/memory.ts";
import { isPreference, isTalk } from "./recall-text.ts";

/**
 * Questions that find how the user wants agents to work, and the least that the meaning of a memory adds to its score, in
 * log-odds: memories about the user's life are below it. None has the word *user*, which many memories begin with.
 */
const WAYS_OF_WORKING = [
  "preferred way of working with agents",
  "how answers and explanations should be written",
  "rules for commits, branches, pull requests and reviews",
  "coding style, tests, comments and dependencies",
  "what an agent must never do without asking",
  "editor, shell, tools and formats to use",
  "language, tone and length of replies",
];
const MIN_MEANING = 1.3;

/**
 * How the user wants agents to work: what was saved on purpose and belongs to no project, most important
 * first. @param search finds memories of no project
 */
export async function preferencesOfUser(
  search: (query: string) => Promise<readonly FoundMemory[]>,
): Promise<Memory[]> {
  const best = new Map<string, { memory: Memory; meaning: number }>();
  for (const query of WAYS_OF_WORKING) {
    for (const memory of await search(query)) {
      if (isTalk(memory)) continue;
      const meaning = memory.explanation?.meaning ?? 0;
      const least = isPreference(memory) ? Number.NEGATIVE_INFINITY : MIN_MEANING;
      if (meaning > (best.get(memory.id)?.meaning ?? least)) {
        best.set(memory.id, { memory, meaning });
      }
    }
  }
  return [...best.values()]
    .sort((a, b) => byImportance(a.memory, b.memory) || b.meaning - a.meaning)
    .map(({ memory }) => memory);
}

/** Pinned memories first, then the most important ones. */
export function byImportance(a: Memory, b: Memory): number {
  return Number(b.pinned) - Number(a.pinned) || b.importance - a.importance;
}
