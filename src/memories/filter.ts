import type { MemoryRow } from "./rows.ts";

/** What narrows a search, a list or a deletion. All conditions given must hold. */
export interface Filter {
  tags?: readonly string[];
  /** Whether one of `tags` is enough (`any`) or all must be there. */
  tagsMatch?: "any" | "all";
  agentId?: string;
  sessionId?: string;
  /** Milliseconds since 1970, inclusive. */
  createdAfter?: number;
  /** Milliseconds since 1970, exclusive. */
  createdBefore?: number;
}

/** A place in a list that is sorted by newest first. */
export interface Position {
  createdAt: number;
  id: string;
}

/** Whether a filter has any condition. */
export function narrows({
  tags,
  agentId,
  sessionId,
  createdAfter,
  createdBefore,
}: Filter): boolean {
  const conditions = [agentId, sessionId, createdAfter, createdBefore];
  return (tags?.length ?? 0) > 0 || conditions.some((condition) => condition !== undefined);
}

/** Whether a filter lets a memory pass. */
export function passes(
  { tags: wanted = [], tagsMatch, agentId, sessionId, createdAfter, createdBefore }: Filter,
  memory: Pick<MemoryRow, "tags" | "agentId" | "sessionId" | "createdAt">,
): boolean {
  const has = (tag: string) => memory.tags.includes(tag);
  const hasTags = tagsMatch === "all" ? wanted.every(has) : wanted.some(has);
  return (
    (wanted.length === 0 || hasTags) &&
    (agentId === undefined || memory.agentId === agentId) &&
    (sessionId === undefined || memory.sessionId === sessionId) &&
    (createdAfter === undefined || memory.createdAt >= createdAfter) &&
    (createdBefore === undefined || memory.createdAt < createdBefore)
  );
}
