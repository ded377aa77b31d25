import type { MemoryRow } from "./rows.ts";

/** What narrows a search, a list or a deletion. All conditions given must hold. */
export interface Filter {
  tags?: readonly string[];
  /** Whether one of `tags` is enough (`any`) or all must be there. */
  tagsMatch?: "any" | "all";
  agentId?: string;
  sessionId?: string;
  /** Projects, one of which a memory belongs to; `null` stands for none. */
  projects?: readonly (string | null)[];
  /** Whether scores too must tell nothing of memories of other projects. */
  isBound?: boolean;
  /** Id of the credential that wrote it. */
  sourceId?: string;
  /** Only what was captured from conversations, or only what was not. */
  isCaptured?: boolean;
  /** Milliseconds since 1970, inclusive. */
  createdAfter?: number;
  /** Milliseconds since 1970, exclusive. */
  createdBefore?: number;
  /** Only memories that no other one supersedes. */
  isCurrent?: boolean;
  /** Only memories that have not expired at this moment. */
  aliveAt?: number;
  /** Ids of memories that are left out. */
  except?: readonly string[];
}

/** A place in a list that is sorted by newest first. */
export interface Position {
  createdAt: number;
  id: string;
}

/** Where a page of such a list begins. */
export interface PageStart extends Position {
  /** Whether the page is the one that ends before the position, instead of the one after it. */
  isBackward?: boolean;
}

/** Whether a filter has a condition that somebody asked for. */
export function narrows({
  tags,
  tagsMatch: _,
  isCurrent: __,
  aliveAt: ___,
  isBound: ____,
  except: _____,
  ...rest
}: Filter) {
  const conditions = Object.values(rest);
  return (tags?.length ?? 0) > 0 || conditions.some((condition) => condition !== undefined);
}

/** Whether a filter lets a memory pass. */
export function passes(filter: Filter, memory: MemoryRow): boolean {
  const { tags: wanted = [], tagsMatch, agentId, sessionId, projects, sourceId } = filter;
  const { isCaptured, createdAfter, createdBefore, isCurrent, aliveAt, except } = filter;
  const has = (tag: string) => memory.tags.includes(tag);
  const hasTags = tagsMatch === "all" ? wanted.every(has) : wanted.some(has);
  return (
    (wanted.length === 0 || hasTags) &&
    (agentId === undefined || memory.agentId === agentId) &&
    (sessionId === undefined || memory.sessionId === sessionId) &&
    (projects === undefined || projects.includes(memory.project)) &&
    (sourceId === undefined || memory.source?.id === sourceId) &&
    (isCaptured === undefined || isCaptured === wasCaptured(memory)) &&
    (createdAfter === undefined || memory.createdAt >= createdAfter) &&
    (createdBefore === undefined || memory.createdAt < createdBefore) &&
    (!isCurrent || memory.supersededBy === null) &&
    (aliveAt === undefined || memory.expiresAt === null || memory.expiresAt > aliveAt) &&
    !except?.includes(memory.id)
  );
}

/** Whether a memory was read from a conversation, instead of saved by somebody. */
export function wasCaptured({ source }: Pick<MemoryRow, "source">): boolean {
  return source?.via === "capture";
}
