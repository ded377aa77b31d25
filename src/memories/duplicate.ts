import type { Draft } from "./draft.ts";
import { passes } from "./filter.ts";
import type { MemoryRow } from "./rows.ts";

/**
 * What makes saving a memory needless: another one with the same text and project, which holds now
 * and for as long. What was captured is no such one, for nobody chose to keep it.
 * @param now milliseconds since 1970
 */
export function findDuplicate(
  draft: Pick<Draft, "withText">,
  { content, project, supersedes, expiresAt, pinned }: MemoryRow,
  now: number,
): MemoryRow | null {
  // Who names what was true before makes a version of it, whatever else is there.
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
