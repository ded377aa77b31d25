import { SQLiteError, Database as Sqlite } from "bun:sqlite";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { explainDatabaseError } from "./database-error.ts";
import { migrate } from "./migrations.ts";

/** An open database. Every call is synchronous; a write is on the disk when it returns. */
export interface Database {
  /** The way to its tables. */
  readonly orm: BunSQLiteDatabase;
  /** The connection below, for what Drizzle has no word for. */
  readonly sqlite: Sqlite;
  /**
   * Makes a write that may be lost: it does not wait for other processes. Returns whether it was
   * made, and never throws for the database's sake, also when that is closed.
   */
  attempt(write: () => void): boolean;
  /**
   * To be called when a transaction has failed. If that was for the disk's sake, all of it is in
   * the log nevertheless, where a restart would find it. This overwrites or removes it, and returns
   * whether it could.
   */
  voidFailed(): boolean;
  /**
   * To be called in the first transaction after one that could not be voided. It changes the first page
   * that a transaction writes to the log. Two transactions may begin with the same pages: if the process
   * ended when the second one has written these alone, the rest of the first one would follow them.
   */
  differ(): void;
  /**
   * Empties the write-ahead log, after which deleted rows are in no file. Returns false when
   * another process is using the log; then a later call or `close` does it.
   */
  truncateLog(): boolean;
  close(): void;
}

/** How long a statement waits for another process, in milliseconds. */
const BUSY_TIMEOUT = 5_000;

/** Where the database lives in a data folder. */
export function databasePath(dataDir: string): string {
  return join(dataDir, "ctxd.db");
}

/**
 * Opens the database at `path` and brings its schema up to date. File and folder are made when
 * missing, for their owner alone.
 * @throws DatabaseError with one sentence for the user when that can't be done
 */
export function openDatabase(path: string): Database {
  let sqlite: Sqlite | undefined;
  try {
    createPrivately(path);
    sqlite = new Sqlite(path, { readwrite: true, strict: true });
    configure(sqlite);
    migrate(sqlite);
    return createDatabase(sqlite);
  } catch (error) {
    sqlite?.close();
    throw explainDatabaseError(error, path) ?? error;
  }
}

/** SQLite would give a new file the mode 0644, and its log the mode of the file. */
function createPrivately(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
}

function configure(sqlite: Sqlite): void {
  sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
  sqlite.run("PRAGMA journal_mode = WAL");
  sqlite.run("PRAGMA synchronous = FULL");
  sqlite.run("PRAGMA foreign_keys = ON");
  sqlite.run("PRAGMA secure_delete = ON");
}

function createDatabase(sqlite: Sqlite): Database {
  const version = sqlite.query<{ user_version: number }, []>("PRAGMA user_version");
  const truncation = sqlite.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)");
  const truncateLog = () => {
    try {
      return truncation.get()?.busy === 0;
    } catch (error) {
      if (error instanceof SQLiteError) return false;
      throw error;
    }
  };

  // What is there already: a transaction of one page.
  const rewriteVersion = sqlite.transaction(() => {
    const { user_version } = version.get() ?? {};
    sqlite.run(`PRAGMA user_version = ${user_version}`);
  });

  let isClosed = false;
  const attempt = (write: () => void) => {
    if (isClosed) return false;
    sqlite.run("PRAGMA busy_timeout = 0");
    // And not `synchronous = NORMAL`: when the next sync fails, what came before it is lost too, and
    // with it everything that is written to the log later.
    try {
      write();
      return true;
    } catch (error) {
      if (error instanceof SQLiteError) return false;
      throw error;
    } finally {
      sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    }
  };

  return {
    orm: drizzle({ client: sqlite }),
    sqlite,
    attempt,
    truncateLog,
    voidFailed() {
      // When it was closed, the log was emptied.
      if (isClosed || attempt(rewriteVersion.immediate)) return true;
      // A log without transactions gets its header first, and nothing is overwritten if that can't be
      // synced. Then the log can be emptied, which takes no sync.
      let isEmpty = false;
      attempt(() => {
        isEmpty = truncateLog();
      });
      return isEmpty;
    },
    differ() {
      const [any = 0] = crypto.getRandomValues(new Int32Array(1));
      sqlite.run(`PRAGMA application_id = ${any}`);
    },

    close() {
      // Statements that Drizzle prepared keep the file open until they are collected, and with it
      // the log: empty it here, and do not wait for anyone to do so.
      isClosed = true;
      sqlite.run("PRAGMA busy_timeout = 0");
      truncateLog();
      sqlite.close();
    },
  };
}
