import { applyTable } from "../model/field-table.ts";
import type { Conditions, Filter, Order, PageStart } from "../model/filter.ts";

/**
 * Only this file writes conditions for LanceDB. LanceDB has no parameters, so every text passes through `quote`.
 * That is enough: in LanceDB's SQL, only a single quote ends a string.
 */

/** Whether a base has a column. Bases of earlier versions lack later columns. */
export type HasColumn = (name: string) => boolean;

/** A filter as SQL; `undefined` when all rows pass. */
export function filterSql(filter: Filter, has: HasColumn): string | undefined {
  return applyTable(CONDITIONS, filter, has).join(" AND ") || undefined;
}

/** Each condition as SQL; null if all rows pass it. */
const CONDITIONS: Conditions<HasColumn, string | null> = {
  agentId: (agentId) => `agent_id = ${quote(agentId)}`,
  sessionId: (sessionId) => `session_id = ${quote(sessionId)}`,
  projects(projects, has) {
    const names = projects.filter((name) => name !== null);
    const isAny = projects.includes(null);
    if (!has("project")) return isAny ? "true" : "false";
    const ways = [names.length > 0 && `project IN (${list(names)})`, isAny && "project IS NULL"];
    return `(${ways.filter((way) => way !== false).join(" OR ") || "false"})`;
  },
  sourceId: (id, has) => (has("source_id") ? `source_id = ${quote(id)}` : "false"),
  isCaptured(isCaptured, has) {
    if (!has("source_via")) return isCaptured ? "false" : "true";
    return isCaptured
      ? "source_via = 'capture'"
      : "(source_via IS NULL OR source_via <> 'capture')";
  },
  isPinned(isPinned, has) {
    if (!has("pinned")) return isPinned ? "false" : null;
    return isPinned ? "pinned" : "NOT pinned";
  },
  importanceFrom: (least) => `importance >= ${Number(least)}`,
  createdAfter: (from) => `created_at >= ${moment(from)}`,
  createdBefore: (end) => `created_at < ${moment(end)}`,
  expiresBefore: (end, has) => (has("expires_at") ? `expires_at < ${moment(end)}` : "false"),
  tags: (tags, _, { tagsMatch }) =>
    tags.length > 0
      ? `${tagsMatch === "all" ? "array_has_all" : "array_has_any"}(tags, [${list(tags)}])`
      : null,
  knownAt: (time) => `created_at <= ${moment(time)}`,
  // At an earlier moment, `createCurrentCheck` decides: SQL would have to look up each newer memory.
  isCurrent: (isCurrent, has, { knownAt }) =>
    isCurrent && knownAt === undefined && has("superseded_by") ? "superseded_by IS NULL" : null,
  aliveAt: (time, has) =>
    has("expires_at") ? `(expires_at IS NULL OR expires_at > ${moment(time)})` : null,
  only: (ids) => `split_part(id, '#', 1) IN (${list(ids) || "''"})`,
  except: (ids) => (ids.length > 0 ? exceptSql(ids) : null),
};

/** Rows that have a value in a column. */
export function valueSql(column: "superseded_by" | "expires_at"): string {
  return `${column} IS NOT NULL`;
}

/** Rows with one of these ids. */
export function idsSql(ids: readonly string[]): string {
  return `id IN (${list(ids)})`;
}

/** First rows of the memories among these ids that were created after a moment. */
export function laterSql(ids: readonly string[], time: number): string {
  return `created_at > ${moment(time)} AND ${idsSql(ids)}`;
}

/** Rows of all memories except these. */
export function exceptSql(ids: readonly string[]): string {
  return `split_part(id, '#', 1) NOT IN (${list(ids)})`;
}

/** First rows of memories, from a place in the list if one is given. */
export function listSql(
  filter: Filter,
  from: PageStart | null,
  has: HasColumn,
  order: Order = "newest",
): string {
  const conditions = ["passage = 0", filterSql(filter, has)];
  if (from) {
    const at = moment(from.createdAt);
    const than = from.isBackward ? ">" : "<";
    const later = `(created_at ${than} ${at} OR (created_at = ${at} AND id ${than} ${quote(from.id)}))`;
    const importance = Number(from.importance);
    conditions.push(
      order === "newest"
        ? later
        : `(importance ${than} ${importance} OR (importance = ${importance} AND ${later}))`,
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
