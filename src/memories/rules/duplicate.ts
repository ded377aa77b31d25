import type { Reach } from "../../keys/reach.ts";
import { passes } from "../model/filter.ts";
import type { NewMemory } from "../model/memory.ts";
import { mayWrite } from "../model/reach.ts";
import type { MemoryRow, StoredMemory } from "../model/rows.ts";
import type { Draft } from "../table/draft.ts";

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
 * A memory that names what it supersedes, in place of the one that the client saved before it knew that: the one with the same
 * text and project that is in no history. It keeps its id, its time, and the fields that the client does not give
 * again. Without such a memory the new one is returned.
 * @param given the fields of the request
 */
export function withoutTwin(
  draft: Pick<Draft, "get" | "withText">,
  memory: StoredMemory,
  { given, reach }: { given: Partial<NewMemory> | undefined; reach: Reach },
): StoredMemory {
  const { supersedes, content } = memory;
  if (supersedes === null) return memory;
  // Without a project in the request it gets that of the superseded memory.
  const project =
    given?.project === undefined ? (draft.get(supersedes)?.project ?? null) : memory.project;
  const isTwin = (each: MemoryRow) =>
    each.id !== supersedes &&
    each.supersedes === null &&
    each.supersededBy === null &&
    each.project === project &&
    each.source?.via !== "capture" &&
    mayWrite(reach, each);
  const [twin] = draft
    .withText(content)
    .filter(isTwin)
    .sort((a, b) => b.createdAt - a.createdAt);
  if (!twin) return memory;
  const { id, createdAt } = twin;
  return {
    ...memory,
    ...{ id, createdAt },
    ...(given?.tags === undefined && { tags: twin.tags }),
    ...(given?.importance === undefined && { importance: twin.importance }),
    ...(given?.pinned === undefined && { pinned: twin.pinned }),
    ...(given?.metadata === undefined && { metadata: twin.metadata }),
    ...(given?.expires_at === undefined && { expiresAt: twin.expiresAt }),
  };
}
