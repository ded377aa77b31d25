import type { Reach } from "../keys/reach.ts";
import type { Draft } from "./draft.ts";
import { linksOf, relink } from "./links.ts";
import { mayWrite } from "./reach.ts";
import type { MemoryRow, StoredMemory } from "./rows.ts";

type Links = Pick<MemoryRow, "supersedes" | "supersededBy">;

/** Ids of what must be read to write memories with their links. */
export function linkedIds(memories: readonly Links[]): string[] {
  return [...new Set(memories.flatMap(linksOf))];
}

/**
 * The links of a memory that a line replaces: what has superseded it here still does, whatever the line
 * knows of that.
 */
export function linksOver(wanted: Links, current: Links | null): Links {
  const { supersedes, supersededBy } = wanted;
  return { supersedes, supersededBy: supersededBy ?? current?.supersededBy ?? null };
}

/**
 * Has the memories beside those that an import writes say so too. What is not here may come later, and
 * what another memory is linked with already stays so: links that lead nowhere are kept as they are.
 * @param written those that are in the draft now
 * @param before what they supersede until now, by their ids
 */
export function linkImported(
  draft: Draft,
  reach: Reach,
  written: readonly StoredMemory[],
  before: ReadonlyMap<string, string | null>,
): void {
  /** A memory that may be linked, and what it is linked with if that is here. */
  const find = (id: string | null, link: keyof Links) => {
    const memory = id === null ? null : draft.get(id);
    if (!memory || !mayWrite(reach, memory)) return null;
    const linked = memory[link] === null ? null : draft.get(memory[link]);
    return { memory, linked: linked?.id ?? null };
  };
  for (const { id } of written) {
    const former = find(before.get(id) ?? null, "supersededBy");
    const memory = draft.get(id);
    if (!memory) continue;
    if (former?.linked === id && former.memory.id !== memory.supersedes) {
      relink(draft, former.memory, { supersededBy: null });
    }
    const older = find(memory.supersedes, "supersededBy");
    const isBetween = older?.linked === memory.supersededBy;
    // One that supersedes this one would make a circle.
    const isCircle = older?.memory.supersedes === id;
    if (older && !isCircle && (older.linked === null || isBetween)) {
      relink(draft, older.memory, { supersededBy: id });
    }
    const newer = find(memory.supersededBy, "supersedes");
    if (newer && (newer.linked === null || newer.linked === memory.supersedes)) {
      relink(draft, newer.memory, { supersedes: id });
    }
  }
}
