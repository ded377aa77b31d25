import type { Database as Sqlite } from "bun:sqlite";
import type { Checkpoint } from "./records.ts";

/**
 * For processes that only read the database of a data folder, such as `ctxd doctor` and `ctxd backup`. They do not
 * migrate the database, so it may be of an earlier version.
 */

/** The recorded base of a table. */
export interface RecordedCheckpoint extends Pick<Checkpoint, "base" | "version" | "files"> {
  table: string;
}

interface Row {
  account_id: string;
  base: string;
  version: number;
  files: string;
}

/** The entries of all tables that wait for a flush. */
export interface LogFacts {
  entries: number;
  bytes: number;
  /** When the oldest entry was written, in milliseconds since 1970; `null` if unknown. */
  oldest: number | null;
}

// A table's name is the account's id, or begins with the id and a full stop.
const notRemoved = (table: string) =>
  `substr(${table}, 1, instr(${table} || '.', '.') - 1) NOT IN (SELECT id FROM removed_accounts)`;
const NOT_REMOVED = notRemoved("account_id");

/** The checkpoints of all tables whose accounts have not been removed. */
export function readCheckpoints(sqlite: Sqlite): RecordedCheckpoint[] {
  return sqlite
    .query<Row, []>(`${selectFrom(sqlite)} WHERE ${NOT_REMOVED} ORDER BY account_id`)
    .all()
    .map(({ account_id, base, version, files }) => ({
      table: account_id,
      base,
      version,
      files: JSON.parse(files),
    }));
}

/** How many tables there are, with and without bases. The database must be of this version. */
export function countTables(sqlite: Sqlite): number {
  const sql = `SELECT count(*) AS n FROM heads WHERE ${notRemoved("name")}`;
  return sqlite.query<{ n: number }, []>(sql).get()?.n ?? 0;
}

/**
 * Whether a checkpoint is still the table's newest. As long as it is, all its files exist: a newer checkpoint is
 * recorded before an older base is removed, and an account's removal is recorded before its tables are removed.
 */
export function isNewestCheckpoint(sqlite: Sqlite, checkpoint: RecordedCheckpoint): boolean {
  const row = sqlite
    .query<Row, [string]>(`${selectFrom(sqlite)} WHERE account_id = ? AND ${NOT_REMOVED}`)
    .get(checkpoint.table);
  return row?.base === checkpoint.base && row.version === checkpoint.version;
}

/** Counts the entries of all tables. */
export function readLogFacts(sqlite: Sqlite): LogFacts {
  const oldest = hasColumn(sqlite, "journal", "at") ? "min(at)" : "NULL";
  const facts = sqlite
    .query<LogFacts, []>(
      `SELECT count(*) AS entries, coalesce(sum(length(written)), 0) AS bytes, ${oldest} AS oldest FROM journal`,
    )
    .get();
  return facts ?? { entries: 0, bytes: 0, oldest: null };
}

function selectFrom(sqlite: Sqlite): string {
  const base = hasColumn(sqlite, "checkpoints", "base") ? "base" : "account_id";
  return `SELECT account_id, ${base} AS base, version, files FROM checkpoints`;
}

function hasColumn(sqlite: Sqlite, table: string, column: string): boolean {
  const found = sqlite.query("SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  return found.get(table, column) !== null;
}
