import type { Database as Sqlite } from "bun:sqlite";

/** The last durable state of a table, as the database has it. */
export interface RecordedCheckpoint {
  /** The table's name. */
  table: string;
  version: number;
  /** All files that the table had then, relative to its folder. */
  files: string[];
}

interface Row {
  account_id: string;
  version: number;
  files: string;
}

const COLUMNS = "SELECT account_id, version, files FROM checkpoints";
// A table's name is that of its account, or begins with it and a full stop.
const ACCOUNT = "substr(account_id, 1, instr(account_id || '.', '.') - 1)";
const NOT_REMOVED = `${ACCOUNT} NOT IN (SELECT id FROM removed_accounts)`;

/** The checkpoints of all tables whose accounts have not been removed, from a database of any process. */
export function readCheckpoints(sqlite: Sqlite): RecordedCheckpoint[] {
  return sqlite
    .query<Row, []>(`${COLUMNS} WHERE ${NOT_REMOVED} ORDER BY account_id`)
    .all()
    .map(({ account_id, version, files }) => ({
      table: account_id,
      version,
      files: JSON.parse(files),
    }));
}

/**
 * Whether a checkpoint that was read before is still the table's newest. As long as it is, upkeep
 * has removed no file that it needs: it records a newer checkpoint before it removes the files of
 * versions before that, and an account's removal before its table.
 */
export function isNewestCheckpoint(sqlite: Sqlite, checkpoint: RecordedCheckpoint): boolean {
  const row = sqlite
    .query<Row, [string]>(`${COLUMNS} WHERE account_id = ? AND ${NOT_REMOVED}`)
    .get(checkpoint.table);
  return row?.version === checkpoint.version && row.files === JSON.stringify(checkpoint.files);
}

/** The folder of a table in a data folder or a backup. */
export function tableFolder(table: string): string {
  return `memories/${table}.lance`;
}

/** The file that a version of a table begins with: LanceDB counts down, so the newest sorts first. */
export function manifestFile(version: number): string {
  const name = String(2n ** 64n - 1n - BigInt(version)).padStart(20, "0");
  return `_versions/${name}.manifest`;
}
