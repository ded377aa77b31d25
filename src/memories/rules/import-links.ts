import type { Reach } from "../../keys/reach.ts";
import { mayWrite } from "../model/reach.ts";
import type { StoredMemory } from "../model/rows.ts";
import type { Draft } from "../table/draft.ts";
import { type Links, linksOf, relink } from "../table/links.ts";

/** Ids of the memories that must be read to write these with their links. */
export function linkedIds(memories: readonly Links[]): string[] {
  return [...new Set(memories.flatMap(linksOf))];
}

/**
 * The links of an imported memory. A memory that supersedes the replaced one still supersedes it, even if
 * the line does not say so.
 */
export function mergeLinks(wanted: Links, current: Links | null): Links {
  const { supersedes, supersededBy } = wanted;
  return { supersedes, supersededBy: supersededBy ?? current?.supersededBy ?? null };
}

/**
 * Updates the memories that imported ones link to. A link to a missing memory is kept, because a later line
 * may create it. A memory that is linked with another one stays so.
 * @param written the imported memories, which are in the draft
 * @param before what they superseded before the import, by their ids
 */
export function linkImported(
  draft: Draft,
  reach: Reach,
  written: readonly StoredMemory[],
  before: ReadonlyMap<string, string | null>,
): void {
  /** A memory that may be relinked, and the id of the memory that it links to, if that exists. */
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
    // A memory that supersedes this one must not be superseded by it.
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
