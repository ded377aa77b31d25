import { Database as Sqlite } from "bun:sqlite";
import { closeSync, openSync, statSync } from "node:fs";
import { syncFileNow } from "../system/durability.ts";
import { explainDatabaseError } from "./database-error.ts";

/** SQLite's flags for `sqlite3_open_v2`: read only, and the name may be a URI. */
const READ_ONLY_URI = 0x1 | 0x40;
/** How long a statement waits for another process, in milliseconds. */
const BUSY_TIMEOUT = 10_000;

/**
 * Opens the database at `path` as it is: its schema is not brought up to date.
 * @throws DatabaseError with one sentence for the user when that can't be done
 */
export function openUnmigrated(path: string): Sqlite {
  return explained(path, () => {
    // Able to write, because one that only reads leaves an empty log behind.
    const sqlite = new Sqlite(path, { readwrite: true, create: false, strict: true });
    sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    return sqlite;
  });
}

/**
 * Opens the database at `path` to look at it: nothing in its folder changes, but for the scratch file
 * beside a log that is in use.
 * @param isServed whether a server has it open
 * @throws DatabaseError with one sentence for the user when that can't be done
 */
export function openReadOnly(path: string, isServed: boolean): Sqlite {
  return explained(path, () => {
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    // An empty log is not read, and without one SQLite need not make it.
    const mode = isServed || (log?.size ?? 0) > 0 ? "mode=ro" : "immutable=1";
    const sqlite = new Sqlite(`${Bun.pathToFileURL(path).href}?${mode}`, READ_ONLY_URI);
    sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    return sqlite;
  });
}

/**
 * Writes a database as it is at this moment to a new file, for its owner alone, while others go on
 * writing to it. What was deleted before is not in the copy. It is on the disk when this returns.
 * @throws DatabaseError that names the copy when it can't be written
 */
export function copyDatabase(sqlite: Sqlite, path: string): void {
  explained(path, () => {
    // SQLite would give a new file the mode 0644; it takes an empty one. Nor does it sync it.
    closeSync(openSync(path, "wx", 0o600));
    sqlite.query("VACUUM INTO ?").run(path);
    syncFileNow(path);
  });
}

/** How many migrations a database has seen. */
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
