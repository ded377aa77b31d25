import { Database as Sqlite } from "bun:sqlite";
import { MIGRATIONS } from "../db/migrations.ts";
import { migrateSqlite, openUnmigrated, schemaVersion } from "../db/sqlite-files.ts";
import { parsed } from "../text/parse-json.ts";
import { BackupError } from "./backup-error.ts";

/** Columns whose texts are used as folder names. */
const NAMES: readonly (readonly [table: string, column: string])[] = [
  ["accounts", "id"],
  ["removed_accounts", "id"],
  ["journal", "account_id"],
  ["checkpoints", "account_id"],
  ["checkpoints", "base"],
  ["heads", "name"],
  ["tables", "account_id"],
  ["tables", "name"],
];
/** An account id, optionally with the suffixes of a model and of a base. */
const NAME = /^\w{1,100}(\.[0-9a-f]{8}){0,2}$/;

/**
 * Checks that the database at `path` is one of this program. A backup is untrusted input, because its
 * author also wrote its checksums. A foreign database could run its own statements with each change
 * (triggers, views), ignore changes such as a revocation (constraints of tables), and contain names that lead
 * out of the data folder.
 * @param schema its schema version according to the manifest
 * @param origin its name in the error message
 * @throws BackupError
 */
export function refuseForeignDatabase(path: string, schema: number, origin: string): void {
  using sqlite = openUnmigrated(path);
  try {
    sqlite.run("PRAGMA trusted_schema = OFF");
    const isOurs =
      schemaVersion(sqlite) === schema &&
      definitionOf(sqlite) === expectedDefinition(schema) &&
      NAMES.every(([table, column]) => hasPlainNames(sqlite, table, column)) &&
      hasPlainFiles(sqlite);
    if (isOurs) return;
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== "SQLiteError") throw cause;
  }
  throw new BackupError(`${origin} is not a database of ctxd: use another backup.`);
}

/**
 * The statements that define a database. SQLite's own tables and indexes are left out: they have no statement, or are
 * statistics. Early versions wrote `AUTOINCREMENT` without a `NOT NULL`, which means the same.
 */
function definitionOf(sqlite: Sqlite): string {
  const rows = sqlite
    .query<{ sql: string }, []>(
      `SELECT sql FROM sqlite_schema
       WHERE type NOT IN ('table', 'index') OR name NOT LIKE 'sqlite!_%' ESCAPE '!'
       ORDER BY type, name`,
    )
    .all();
  return JSON.stringify(rows.map(({ sql }) => sql)).replaceAll(
    "AUTOINCREMENT NOT NULL",
    "AUTOINCREMENT",
  );
}

function expectedDefinition(schema: number): string {
  using model = new Sqlite(":memory:");
  migrateSqlite(model, MIGRATIONS.slice(0, schema));
  return definitionOf(model);
}

function hasPlainNames(sqlite: Sqlite, table: string, column: string): boolean {
  const known = sqlite.query("SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  // A backup of an older version lacks newer columns.
  if (known.get(table, column) === null) return true;
  for (const row of sqlite.query(`SELECT DISTINCT ${column} AS name FROM ${table}`).iterate()) {
    const { name } = Object(row);
    if (typeof name !== "string" || !NAME.test(name)) return false;
  }
  return true;
}

/** Whether all files that checkpoints list are inside the folder of their base. */
function hasPlainFiles(sqlite: Sqlite): boolean {
  for (const row of sqlite.query("SELECT files FROM checkpoints").iterate()) {
    const files = parsed(String(Object(row).files));
    if (!Array.isArray(files) || !files.every(isPlainPath)) return false;
  }
  return true;
}

/** Whether a path is relative and stays inside its folder. */
export function isPlainPath(path: unknown): path is string {
  return (
    typeof path === "string" &&
    /^[^\\\p{Cc}]+$/u.test(path) &&
    path.split("/").every((part) => part !== "" && part !== "." && part !== "..")
  );
}
