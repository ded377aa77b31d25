import type { MemoryRow } from "./rows.ts";

/**
 * The only place that writes filter strings. LanceDB has no parameters, so every value passes
 * through `quote`, which is complete: in its SQL a string ends at a single quote and nowhere else.
 */

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

/** The filter as SQL, or `undefined` when it lets everything pass. */
export function filterSql(filter: Filter): string | undefined {
  const conditions: string[] = [];
  if (filter.tags?.length) {
    const match = filter.tagsMatch === "all" ? "array_has_all" : "array_has_any";
    conditions.push(`${match}(tags, [${filter.tags.map(quote).join(", ")}])`);
  }
  if (filter.agentId !== undefined) conditions.push(`agent_id = ${quote(filter.agentId)}`);
  if (filter.sessionId !== undefined) conditions.push(`session_id = ${quote(filter.sessionId)}`);
  if (filter.createdAfter !== undefined) {
    conditions.push(`created_at >= ${moment(filter.createdAfter)}`);
  }
  if (filter.createdBefore !== undefined) {
    conditions.push(`created_at < ${moment(filter.createdBefore)}`);
  }
  return all(conditions);
}

/** What `filterSql` asks of a memory, for one that is at hand. */
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

/** Rows whose id is one of these. */
export function idsSql(ids: readonly string[]): string {
  return `id IN (${ids.map(quote).join(", ")})`;
}

/** Rows of these sessions and rows with these ids, as far as a filter lets them pass. */
export function aroundSql(
  { sessions, ids }: { sessions: readonly string[]; ids: readonly string[] },
  filter: Filter,
): string {
  const either = [
    ...(sessions.length > 0 ? [`session_id IN (${sessions.map(quote).join(", ")})`] : []),
    ...(ids.length > 0 ? [idsSql(ids)] : []),
  ].join(" OR ");
  const sql = filterSql(filter);
  return sql === undefined ? either : `(${either}) AND ${sql}`;
}

/** Memories (no further passages), after a position of the list when one is given. */
export function listSql(filter: Filter, after: Position | null): string {
  const conditions = ["passage = 0", filterSql(filter)];
  if (after) {
    const at = moment(after.createdAt);
    conditions.push(`(created_at < ${at} OR (created_at = ${at} AND id < ${quote(after.id)}))`);
  }
  return conditions.filter((condition) => condition !== undefined).join(" AND ");
}

function all(conditions: string[]) {
  return conditions.length > 0 ? conditions.join(" AND ") : undefined;
}

function quote(value: string) {
  return `'${value.replaceAll("'", "''")}'`;
}

function moment(time: number) {
  if (!Number.isSafeInteger(time)) throw new RangeError("a time must be whole milliseconds");
  return `to_timestamp_millis(${time})`;
}
