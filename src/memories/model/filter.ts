import type { FieldTable } from "./field-table.ts";
import type { MemoryRow } from "./rows.ts";

/** The conditions of a search, a list or a deletion. A memory must meet all of them. */
export interface Filter {
  tags?: readonly string[];
  /** Whether a memory must have one of `tags` (`any`) or all of them. */
  tagsMatch?: "any" | "all";
  /** Only memories of this agent. The ranking does not read it. */
  agentId?: string;
  sessionId?: string;
  /** The memory belongs to one of these projects; `null` is no project. */
  projects?: readonly (string | null)[];
  /** Whether scores must not depend on memories of other projects either. */
  isBound?: boolean;
  /** Id of the credential that wrote the memory. */
  sourceId?: string;
  /** `true`: only captured memories; `false`: only others. */
  isCaptured?: boolean;
  isPinned?: boolean;
  /** The least importance, 0 to 1. */
  importanceFrom?: number;
  /** Milliseconds since 1970, inclusive. */
  createdAfter?: number;
  /** Milliseconds since 1970, exclusive. */
  createdBefore?: number;
  /** Only memories that expire before this moment. */
  expiresBefore?: number;
  /** Only memories that existed at this moment; with `isCurrent`, also those that were superseded later. */
  knownAt?: number;
  /** Only memories that none supersedes. */
  isCurrent?: boolean;
  /** Only memories that have not expired at this moment. */
  aliveAt?: number;
  /** Only memories with these ids. */
  only?: readonly string[];
  /** Ids of memories that are left out. */
  except?: readonly string[];
}

/** The orders of a list. Equally important memories come newest first. */
export const ORDERS = ["newest", "importance"] as const;
export type Order = (typeof ORDERS)[number];

/** The orders of a list by how often memories were found or recalled; the second is the first reversed. */
export const USE_ORDERS = ["most_found", "never_found"] as const;
export type UseOrder = (typeof USE_ORDERS)[number];

/** A position in a list of memories. */
export interface Position {
  createdAt: number;
  id: string;
  /** In a list by importance. */
  importance?: number;
}

/** Compares two positions: the result is negative if the first one comes first. */
export function compareIn(order: Order) {
  return (a: Position, b: Position): number => {
    const byImportance = order === "importance" ? (b.importance ?? 0) - (a.importance ?? 0) : 0;
    return byImportance || b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
  };
}

/** Where a page of such a list begins. */
export interface PageStart extends Position {
  /** Whether the page ends before the position, instead of beginning after it. */
  isBackward?: boolean;
}

/** Whether a client has set a condition. The server sets the ignored ones itself. */
export function hasCondition({
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

/**
 * What each condition of a filter means for a part that does not use `passes`, which is the reference for all of them.
 * The fields that are left out only say how others are meant.
 */
export type Conditions<Subject, Result> = FieldTable<
  Filter,
  Subject,
  Result,
  Exclude<keyof Filter, "tagsMatch" | "isBound">
>;

/**
 * Whether a memory matches a filter.
 * @param find memories by id. Needed for `knownAt` with `isCurrent`: a memory was current until the one that supersedes it
 *   was created. If that one is missing, nobody knows when: then it never was.
 */
export function passes(
  filter: Filter,
  memory: MemoryRow,
  find: (id: string) => Pick<MemoryRow, "createdAt"> | undefined = () => undefined,
): boolean {
  const { tags: wanted = [], tagsMatch, agentId, sessionId, projects, sourceId } = filter;
  const { isCaptured, isPinned, importanceFrom = 0 } = filter;
  const { createdAfter, createdBefore, expiresBefore, knownAt, isCurrent, aliveAt } = filter;
  const { only, except } = filter;
  const newer = memory.supersededBy === null ? undefined : find(memory.supersededBy);
  const wasCurrent = knownAt !== undefined && newer !== undefined && newer.createdAt > knownAt;
  const has = (tag: string) => memory.tags.includes(tag);
  const hasTags = tagsMatch === "all" ? wanted.every(has) : wanted.some(has);
  return (
    (wanted.length === 0 || hasTags) &&
    (agentId === undefined || memory.agentId === agentId) &&
    (sessionId === undefined || memory.sessionId === sessionId) &&
    (projects === undefined || projects.includes(memory.project)) &&
    (sourceId === undefined || memory.source?.id === sourceId) &&
    (isCaptured === undefined || isCaptured === wasCaptured(memory)) &&
    (isPinned === undefined || isPinned === memory.pinned) &&
    memory.importance >= importanceFrom &&
    (createdAfter === undefined || memory.createdAt >= createdAfter) &&
    (createdBefore === undefined || memory.createdAt < createdBefore) &&
    (expiresBefore === undefined || (memory.expiresAt ?? Infinity) < expiresBefore) &&
    (knownAt === undefined || memory.createdAt <= knownAt) &&
    (!isCurrent || memory.supersededBy === null || wasCurrent) &&
    (aliveAt === undefined || memory.expiresAt === null || memory.expiresAt > aliveAt) &&
    (only === undefined || only.includes(memory.id)) &&
    !except?.includes(memory.id)
  );
}

/** Whether a memory was captured from a conversation, instead of saved by a client. */
export function wasCaptured({ source }: Pick<MemoryRow, "source">): boolean {
  return source?.via === "capture";
}
