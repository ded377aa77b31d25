import type { Filter, Position } from "../filter.ts";

/**
 * The only place that writes filter strings. LanceDB has no parameters, so every value passes
 * through `quote`, which is complete: in its SQL a string ends at a single quote and nowhere else.
 */

/** The filter as SQL, or `undefined` when it lets everything pass. */
export function filterSql(filter: Filter): string | undefined {
  const conditions: string[] = [];
  if (filter.tags?.length) {
    const match = filter.tagsMatch === "all" ? "array_has_all" : "array_has_any";
    conditions.push(`${match}(tags, [${list(filter.tags)}])`);
  }
  if (filter.agentId !== undefined) conditions.push(`agent_id = ${quote(filter.agentId)}`);
  if (filter.sessionId !== undefined) conditions.push(`session_id = ${quote(filter.sessionId)}`);
  if (filter.createdAfter !== undefined) {
    conditions.push(`created_at >= ${moment(filter.createdAfter)}`);
  }
  if (filter.createdBefore !== undefined) {
    conditions.push(`created_at < ${moment(filter.createdBefore)}`);
  }
  return conditions.length > 0 ? conditions.join(" AND ") : undefined;
}

/** Rows whose id is one of these. */
export function idsSql(ids: readonly string[]): string {
  return `id IN (${list(ids)})`;
}

/** Rows of all memories but these. */
export function exceptSql(ids: readonly string[]): string {
  return `split_part(id, '#', 1) NOT IN (${list(ids)})`;
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

/** Memories of sessions. */
export function sessionsSql(sessions: readonly string[], filter: Filter): string {
  return `session_id IN (${list(sessions)}) AND ${listSql(filter, null)}`;
}

/** Memories one of whose words has these letters in it. */
export function lettersSql(letters: string): string {
  if (/[%_\\]/.test(letters)) throw new RangeError("a word has letters alone");
  return `words LIKE ${quote(`%${letters}%`)}`;
}

function list(values: readonly string[]) {
  return values.map(quote).join(", ");
}

function quote(value: string) {
  return `'${value.replaceAll("'", "''")}'`;
}

function moment(time: number) {
  if (!Number.isSafeInteger(time)) throw new RangeError("a time must be whole milliseconds");
  return `to_timestamp_millis(${time})`;
}
