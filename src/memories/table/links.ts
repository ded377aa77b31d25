import { createPause } from "../../timing/pause.ts";
import { LIMITS } from "../model/memory.ts";
import type { MemoryRow, StoredMemory } from "../model/rows.ts";
import type { Draft } from "./draft.ts";

/** A memory's place in its history. */
export type Links = Pick<MemoryRow, "supersedes" | "supersededBy">;

/** Ids of the memories that a memory is linked with. */
export function linksOf(memory: Links | null | undefined): string[] {
  if (!memory) return [];
  return [memory.supersedes, memory.supersededBy].filter((id) => id !== null);
}

/** Changes the links of a memory in a draft. */
export function relink(draft: Draft, memory: MemoryRow, links: Partial<Links>): void {
  const embedding = draft.embeddingOf(memory.id);
  if (!embedding) throw new Error("a memory was not loaded with its vectors");
  const next: StoredMemory = { ...memory, ...links, ...embedding };
  // A link to itself would make following links endless.
  if (next.supersedes === next.id) next.supersedes = null;
  if (next.supersededBy === next.id) next.supersededBy = null;
  draft.put(next);
}

/**
 * Removes memories from a draft, and links the ones before them in their histories with the ones after
 * them. Their linked memories must have been read.
 * @param mayRelink whether a memory that stays may be changed
 */
export function removeLinked(
  draft: Draft,
  ids: readonly string[],
  mayRelink: (memory: MemoryRow) => boolean = () => true,
): void {
  const removed = new Map<string, Links>();
  for (const id of ids) {
    const memory = draft.get(id);
    if (!memory) continue;
    removed.set(id, memory);
    draft.remove(id);
  }
  /** Follows a link past the removed memories. */
  const skipRemoved = (id: string | null, link: keyof Links): string | null => {
    const seen = new Set<string>();
    let next = id;
    while (next !== null && !seen.has(next)) {
      const memory = removed.get(next);
      if (!memory) return next;
      seen.add(next);
      next = memory[link];
    }
    return null;
  };
  for (const [id, { supersedes, supersededBy }] of removed) {
    const older = supersedes === null ? null : draft.get(supersedes);
    if (older?.supersededBy === id && mayRelink(older)) {
      relink(draft, older, { supersededBy: skipRemoved(supersededBy, "supersededBy") });
    }
    const newer = supersededBy === null ? null : draft.get(supersededBy);
    if (newer?.supersedes === id && mayRelink(newer)) {
      relink(draft, newer, { supersedes: skipRemoved(supersedes, "supersedes") });
    }
  }
}

/** The most memories that a walk over a history visits: older and newer ones. */
const LONGEST = 2 * LIMITS.history;

/** The whole history of a memory in a draft. It must have been read with the memory. */
export function chainIn(draft: Draft, id: string): MemoryRow[] {
  const chain = new Set([id]);
  for (const each of chain) addLinks(chain, draft.get(each));
  return [...chain].flatMap((each) => draft.get(each) ?? []);
}

/** Adds the linked memories to the ids of a history, up to its bound. */
export function addLinks(chain: Set<string>, memory: Links | null | undefined): void {
  for (const id of linksOf(memory)) if (chain.size < LONGEST) chain.add(id);
}

/**
 * Ids of a memory's history, newest first: what it supersedes and what supersedes it, and so on.
 * @param get memories by id; `null` for missing ones
 */
export async function historyOf(
  get: (id: string) => Promise<(Links & { id: string }) | null>,
  id: string,
): Promise<string[]> {
  const seen = new Set<string>();
  const pause = createPause();
  const follow = async (start: string | null | undefined, link: keyof Links) => {
    const ids: string[] = [];
    for (let next = start ?? null; next !== null && ids.length < LIMITS.history; ) {
      const memory = seen.has(next) ? null : await get(next);
      if (!memory) break;
      seen.add(memory.id);
      ids.push(memory.id);
      next = memory[link];
      await pause();
    }
    return ids;
  };
  const newer = await follow(id, "supersededBy");
  const older = await follow((await get(id))?.supersedes, "supersedes");
  return [...newer.reverse(), ...older];
}
