import type { Statements } from "../../db/postgres.ts";
import { NOW } from "./postgres-clock.ts";
import type { LogFacts } from "./recorded.ts";

/** Counts the entries in the log of several servers, and the tables whose upkeep is overdue. */
export async function readSharedFacts(
  sql: Statements,
): Promise<LogFacts & { tables: number; overdue: number }> {
  const [entries = []] = await sql.rows(
    `SELECT count(*), coalesce(sum(length(written)), 0)::bigint, min(at) FROM journal`,
  );
  const [tables = []] = await sql.rows(
    `SELECT count(*), count(*) FILTER (WHERE due_at < ${NOW} AND lease_until < ${NOW}) FROM heads`,
  );
  const [count, bytes, oldest] = entries;
  return {
    entries: Number(count),
    bytes: Number(bytes),
    oldest: oldest === null ? null : Number(oldest),
    tables: Number(tables[0]),
    overdue: Number(tables[1]),
  };
}

/** Names of all bases to which checkpoints refer. */
export async function recordedBases(sql: Statements): Promise<string[]> {
  return (await sql.rows("SELECT base FROM checkpoints")).map(([base]) => String(base));
}
