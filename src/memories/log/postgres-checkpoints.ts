import type { Statements } from "../../db/postgres.ts";
import { NOW, type Overdue, readNames } from "./postgres-leases.ts";
import type { Checkpoint, Lease, LogFacts } from "./records.ts";
import { LeaseLost } from "./shared-log.ts";

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
export function recordedBases(sql: Statements): Promise<string[]> {
  return readNames(sql, "SELECT base FROM checkpoints");
}

/** When any process may flush the entries that the checkpoint does not include. */
const DUE_AGAIN = `CASE WHEN h.seq <= $5::bigint THEN NULL
  WHEN EXISTS (SELECT 1 FROM journal j WHERE j.name = $1 AND j.seq > $5 AND j.has_remains)
  THEN ${NOW} + $7::bigint ELSE ${NOW} + $6::bigint END`;

/** Locks the head, then the base, then writes everything or nothing. */
const RECORD = `WITH h AS (
  SELECT name FROM heads WHERE name = $1 AND owner = $8 AND epoch = $9::bigint AND NOT EXISTS (
    SELECT 1 FROM checkpoints c WHERE c.name = $1 AND c.up_to > $5::bigint
  ) FOR UPDATE
), b AS (
  UPDATE bases SET state = 'recorded'
  WHERE base = $2 AND epoch = $9::bigint AND state <> 'condemned' AND EXISTS (SELECT 1 FROM h)
  RETURNING base
), f AS (
  UPDATE bases SET state = 'condemned' WHERE base <> $2 AND EXISTS (SELECT 1 FROM b)
    AND base = (SELECT base FROM checkpoints WHERE name = $1)
), d AS (
  UPDATE heads h SET due_at = ${DUE_AGAIN} WHERE name = $1 AND EXISTS (SELECT 1 FROM b)
), c AS (
  INSERT INTO checkpoints (name, base, version, files, up_to)
  SELECT $1, base, $3::bigint, $4, $5::bigint FROM b
  ON CONFLICT (name) DO UPDATE SET base = excluded.base,
    version = excluded.version, up_to = excluded.up_to, files = excluded.files
  RETURNING 1
) SELECT count(*) FROM c`;

/** Records a base that was written under a lease. @throws LeaseLost */
export async function recordUnderLease(
  sql: Statements,
  table: string,
  checkpoint: Checkpoint,
  { owner, epoch }: Lease,
  overdue: Overdue,
): Promise<void> {
  const { base, version, files, upTo } = checkpoint;
  const parameters = [table, base, version, JSON.stringify(files), upTo];
  const [row] = await sql.rows(RECORD, [
    ...parameters,
    overdue.flush,
    overdue.forget,
    owner,
    epoch,
  ]);
  if (row?.[0] !== 1) throw new LeaseLost(`another process may have written ${table}`);
}

/** Drops all records of tables, and condemns their bases. */
export async function dropTables(tx: Statements, tables: readonly string[]): Promise<void> {
  // Heads first: this waits for an append that is under way, so that its entry is deleted too.
  for (const each of ["heads", "journal", "checkpoints"]) {
    await tx.rows(`DELETE FROM ${each} WHERE name = ANY($1::text[])`, [tables]);
  }
  await tx.rows("UPDATE bases SET state = 'condemned' WHERE name = ANY($1::text[])", [tables]);
}
