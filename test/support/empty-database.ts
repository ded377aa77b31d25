import { Database as Sqlite } from "bun:sqlite";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { databasePath } from "../../src/db/data-lock.ts";
import { openSqlite, type SqliteDatabase } from "../../src/db/sqlite.ts";
import { migrateSqlite } from "../../src/db/sqlite-files.ts";

let empty: Uint8Array | undefined;

/** The file of a database with the present schema and no rows. */
function emptyDatabase(): Uint8Array {
  using sqlite = new Sqlite(":memory:");
  migrateSqlite(sqlite);
  return sqlite.serialize();
}

/**
 * Opens the database of a data folder as a server does. A new one is a copy of one that was migrated in memory: each
 * migration syncs the disk, and most tests begin with a new database.
 */
export function openDatabase(dataDir: string): SqliteDatabase {
  const path = databasePath(dataDir);
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    empty ??= emptyDatabase();
    writeFileSync(path, empty, { mode: 0o600 });
  }
  return openSqlite(path);
}
