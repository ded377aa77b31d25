import type { Draft } from "./draft.ts";
import type { MemoryRow, StoredMemory } from "./rows.ts";

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
 */
export function removeLinked(draft: Draft, ids: readonly string[]): void {
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
    if (older?.supersededBy === id) {
      relink(draft, older, { supersededBy: skipRemoved(supersededBy, "supersededBy") });
    }
    const newer = supersededBy === null ? null : draft.get(supersededBy);
    if (newer?.supersedes === id)
      relink(draft, newer, { supersedes: skipRemoved(supersedes, "supersedes") });
  }
}

/** The whole history of a memory in a draft. It must have been read with the memory. */
export function chainIn(draft: Draft, id: string): MemoryRow[] {
  const chain = new Set([id]);
  for (const each of chain) for (const linked of linksOf(draft.get(each))) chain.add(linked);
  return [...chain].flatMap((each) => draft.get(each) ?? []);
}

/**
 * Ids of a memory's history, newest first: what it supersedes and what supersedes it, and so on.
 * @param get memories by id; `null` for missing ones
 */
export async function historyOf(
  get: (id: string) => Promise<Pick<MemoryRow, "id" | "supersedes" | "supersededBy"> | null>,
  id: string,
): Promise<string[]> {
  const seen = new Set<string>();
  const follow = async (start: string | null | undefined, link: keyof Links) => {
    const ids: string[] = [];
    for (let next = start ?? null; next !== null && !seen.has(next); ) {
      const memory = await get(next);
      if (!memory) break;
      seen.add(memory.id);
      ids.push(memory.id);
      next = memory[link];
    }
    return ids;
  };
  const newer = await follow(id, "supersededBy");
  const older = await follow((await get(id))?.supersedes, "supersedes");
  return [...newer.reverse(), ...older];
}
