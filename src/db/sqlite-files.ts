import { type Database, Database as Sqlite } from "bun:sqlite";
import { closeSync, openSync, statSync } from "node:fs";
import { syncFileNow } from "../system/files.ts";
import { DatabaseError, explainDatabaseError } from "./database-error.ts";
import { MIGRATIONS } from "./migrations.ts";

/** SQLite's flags for `sqlite3_open_v2`: read only, and the name may be a URI. */
const READ_ONLY_URI = 0x1 | 0x40;
/** Milliseconds that a statement waits for another process. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * Opens the database at `path` without migrating it.
 * @throws DatabaseError with one sentence for the user when it can't be opened
 */
export function openUnmigrated(path: string): Sqlite {
  return explained(path, () => {
    // Opened for writing: a read-only connection leaves an empty write-ahead log behind.
    const sqlite = new Sqlite(path, { readwrite: true, create: false, strict: true });
    sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return sqlite;
  });
}

/**
 * Opens the database at `path` for reading. Nothing in its folder changes, except for the shared-memory
 * file beside a write-ahead log in use.
 * @param isServed whether a server has it open
 * @throws DatabaseError with one sentence for the user when it can't be opened
 */
export function openReadOnly(path: string, isServed: boolean): Sqlite {
  return explained(path, () => {
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    // Without entries in the log, `immutable` keeps SQLite from reading or creating it.
    const mode = isServed || (log?.size ?? 0) > 0 ? "mode=ro" : "immutable=1";
    const sqlite = new Sqlite(`${Bun.pathToFileURL(path).href}?${mode}`, READ_ONLY_URI);
    sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return sqlite;
  });
}

/**
 * Copies the current state of a database to a new file that only its owner can read. Others may write to
 * the database meanwhile. The copy contains no deleted data, and is durable when this returns.
 * @throws DatabaseError that names the copy when it can't be written
 */
export function copyDatabase(sqlite: Sqlite, path: string): void {
  explained(path, () => {
    // SQLite creates files with the mode 0644, but accepts an existing empty file. It does not sync it.
    closeSync(openSync(path, "wx", 0o600));
    sqlite.query("VACUUM INTO ?").run(path);
    syncFileNow(path);
  });
}

/** How many migrations a database has run. */
export function schemaVersion(sqlite: Sqlite): number {
  return sqlite.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}

function explained<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explainDatabaseError(error, path) ?? error;
  }
}

/**
 * Runs all missing migrations, each in its own transaction. Several processes may do this at once.
 * @throws DatabaseError when the schema is of a newer program
 */
export function migrateSqlite(sqlite: Database, migrations = MIGRATIONS): void {
  // Read inside the transaction: another process may have run the migration first.
  const step = sqlite.transaction(() => {
    const version = schemaVersion(sqlite);
    const migration = migrations[version];
    if (migration === undefined) return;
    sqlite.run(migration);
    sqlite.run(`PRAGMA user_version = ${version + 1}`);
  });
  let version = schemaVersion(sqlite);
  while (version < migrations.length) {
    step.immediate();
    version = schemaVersion(sqlite);
  }
  if (version > migrations.length) {
    throw new DatabaseError(
      `The database ${sqlite.filename} was written by a newer ctxd (schema ${version}, this program knows ${migrations.length}): use that version or a newer one, or restore a backup that this one created.`,
    );
  }
}
