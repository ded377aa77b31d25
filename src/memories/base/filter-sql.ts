import type { Filter, PageStart } from "../model/filter.ts";

/**
 * Only this file writes conditions for LanceDB. LanceDB has no parameters, so every text passes through `quote`.
 * That is enough: in LanceDB's SQL, only a single quote ends a string.
 */

/** Whether a base has a column. Bases of earlier versions lack later columns. */
export type HasColumn = (name: string) => boolean;

/** A filter as SQL; `undefined` when all rows pass. */
export function filterSql(filter: Filter, has: HasColumn): string | undefined {
  const { tags, tagsMatch, agentId, sessionId, projects, sourceId } = filter;
  const { isCaptured, createdAfter, createdBefore, isCurrent, aliveAt } = filter;
  const conditions: string[] = [];
  if (tags?.length) {
    const match = tagsMatch === "all" ? "array_has_all" : "array_has_any";
    conditions.push(`${match}(tags, [${list(tags)}])`);
  }
  if (agentId !== undefined) conditions.push(`agent_id = ${quote(agentId)}`);
  if (sessionId !== undefined) conditions.push(`session_id = ${quote(sessionId)}`);
  if (projects) conditions.push(projectsSql(projects, has));
  if (sourceId !== undefined) {
    conditions.push(has("source_id") ? `source_id = ${quote(sourceId)}` : "false");
  }
  if (isCaptured !== undefined) conditions.push(capturedSql(isCaptured, has));
  if (createdAfter !== undefined) conditions.push(`created_at >= ${moment(createdAfter)}`);
  if (createdBefore !== undefined) conditions.push(`created_at < ${moment(createdBefore)}`);
  if (isCurrent && has("superseded_by")) conditions.push("superseded_by IS NULL");
  if (aliveAt !== undefined && has("expires_at")) {
    conditions.push(`(expires_at IS NULL OR expires_at > ${moment(aliveAt)})`);
  }
  if (filter.except?.length) conditions.push(exceptSql(filter.except));
  return conditions.length > 0 ? conditions.join(" AND ") : undefined;
}

function projectsSql(projects: readonly (string | null)[], has: HasColumn): string {
  const names = projects.filter((name) => name !== null);
  const isAny = projects.includes(null);
  if (!has("project")) return isAny ? "true" : "false";
  const ways = [names.length > 0 && `project IN (${list(names)})`, isAny && "project IS NULL"];
  return `(${ways.filter((way) => way !== false).join(" OR ") || "false"})`;
}

function capturedSql(isCaptured: boolean, has: HasColumn): string {
  if (!has("source_via")) return isCaptured ? "false" : "true";
  return isCaptured ? "source_via = 'capture'" : "(source_via IS NULL OR source_via <> 'capture')";
}

/** Rows that have a value in a column. */
export function valueSql(column: "superseded_by" | "expires_at"): string {
  return `${column} IS NOT NULL`;
}

/** Rows with one of these ids. */
export function idsSql(ids: readonly string[]): string {
  return `id IN (${list(ids)})`;
}

/** Rows of all memories except these. */
export function exceptSql(ids: readonly string[]): string {
  return `split_part(id, '#', 1) NOT IN (${list(ids)})`;
}

/** First rows of memories, from a place in the list if one is given. */
export function listSql(filter: Filter, from: PageStart | null, has: HasColumn): string {
  const conditions = ["passage = 0", filterSql(filter, has)];
  if (from) {
    const at = moment(from.createdAt);
    const than = from.isBackward ? ">" : "<";
    conditions.push(
      `(created_at ${than} ${at} OR (created_at = ${at} AND id ${than} ${quote(from.id)}))`,
    );
  }
  return conditions.filter((condition) => condition !== undefined).join(" AND ");
}

/** First rows of memories that expire. */
export const EXPIRING_SQL = `passage = 0 AND ${valueSql("expires_at")}`;

/** First rows of the memories of sessions. */
export function sessionsSql(sessions: readonly string[], filter: Filter, has: HasColumn): string {
  return `session_id IN (${list(sessions)}) AND ${listSql(filter, null, has)}`;
}

/** Memories with a word that contains these letters. */
export function lettersSql(letters: string): string {
  if (/[%_\\]/.test(letters)) throw new RangeError("a word has only letters");
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
