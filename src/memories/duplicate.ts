import type { Reach } from "../keys/reach.ts";
import type { Draft } from "./draft.ts";
import { passes } from "./filter.ts";
import { mayWrite } from "./reach.ts";
import type { MemoryRow } from "./rows.ts";

/**
 * Finds the oldest memory that makes saving another one needless: it has the same text and project, is
 * current, and lasts as long. Captured memories do not count, because nobody chose to keep them.
 * @param now milliseconds since 1970
 */
export function findDuplicate(
  draft: Pick<Draft, "withText">,
  { content, project, supersedes, expiresAt, pinned }: MemoryRow,
  now: number,
): MemoryRow | null {
  // A client that names a memory to supersede always creates a new one.
  if (supersedes !== null) return null;
  const lasts = (each: MemoryRow) =>
    (each.pinned || !pinned) &&
    (each.expiresAt === null || (expiresAt !== null && each.expiresAt >= expiresAt));
  const holds = { projects: [project], isCurrent: true, aliveAt: now };
  const duplicates = draft
    .withText(content)
    .filter((each) => passes(holds, each) && lasts(each) && each.source?.via !== "capture");
  return duplicates.toSorted((a, b) => a.createdAt - b.createdAt)[0] ?? null;
}

/**
 * Finds the memory that a client saved before it named the memory that is superseded: it has the same text, is current
 * and in no history. Saving it again with `supersedes` adds the link instead of a second memory.
 */
export function findUnlinked(
  draft: Pick<Draft, "withText">,
  { content, supersedes }: MemoryRow,
  reach: Reach,
): MemoryRow | null {
  if (supersedes === null) return null;
  const twins = draft
    .withText(content)
    .filter(
      (each) =>
        each.id !== supersedes &&
        each.supersedes === null &&
        each.supersededBy === null &&
        each.source?.via !== "capture" &&
        mayWrite(reach, each),
    );
  return twins.toSorted((a, b) => b.createdAt - a.createdAt)[0] ?? null;
}
