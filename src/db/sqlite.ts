import { SQLiteError, Database as Sqlite } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Database, Orm } from "./database.ts";
import { explainDatabaseError } from "./database-error.ts";
import { sqlite as dialect } from "./dialect.ts";
import { createMutex } from "./mutex.ts";
import { migrateSqlite } from "./sqlite-migrate.ts";
import { createSqliteOrm } from "./sqlite-orm.ts";
import { createStatements } from "./sqlite-statements.ts";
import { BUSY_TIMEOUT_MS, createWriteAheadLog } from "./sqlite-write-ahead-log.ts";
import { createTableDeclarations } from "./table-declarations.ts";

/**
 * The database file of a data folder. A statement runs when it is awaited: immediately, or after a running
 * transaction. It blocks the thread while it runs.
 */
export interface SqliteDatabase extends Database {
  /** The connection, for statements that only SQLite has. Writes must use `exclusively`. */
  readonly sqlite: Sqlite;
  /**
   * Runs a task that writes on the connection itself. It waits for a running transaction, because its
   * statements would become part of it. Without one, the task has run when this returns.
   */
  exclusively<Result>(task: () => Result): Result | Promise<Result>;
  /**
   * Call this after a failed transaction. After a disk error the whole transaction can be in the
   * write-ahead log, and a restart would apply it. This overwrites or removes it there. Returns whether
   * that succeeded.
   */
  voidFailed(): boolean;
  /**
   * Call this in the first transaction after one that could not be voided. It makes the first page that
   * the transaction writes to the log unique. Otherwise two transactions may begin with the same pages: if
   * the process ended after the second one wrote only these, the rest of the first one would follow them.
   */
  differ(): void;
  /**
   * Truncates the write-ahead log, so that no file contains deleted rows. Returns false immediately when
   * another process uses the log; a later call or `close` then does it.
   */
  truncateLog(): boolean;
}

/** Path of the database in a data folder. */
export function databasePath(dataDir: string): string {
  return join(dataDir, "ctxd.db");
}

/**
 * Opens the database at `path` and migrates its schema. Missing files and folders are created, readable by
 * their owner only.
 * @throws DatabaseError with one sentence for the user when it can't be opened
 */
export function openSqlite(path: string): SqliteDatabase {
  let sqlite: Sqlite | undefined;
  try {
    createPrivately(path);
    sqlite = new Sqlite(path, { readwrite: true, strict: true });
    configure(sqlite);
    migrateSqlite(sqlite);
    return createDatabase(sqlite);
  } catch (error) {
    sqlite?.close();
    throw explainDatabaseError(error, path) ?? error;
  }
}

/** Creates the file with the mode 0600; SQLite would use 0644. Its log gets the mode of the file. */
function createPrivately(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
}

function configure(sqlite: Sqlite): void {
  sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  sqlite.run("PRAGMA journal_mode = WAL");
  sqlite.run("PRAGMA synchronous = FULL");
  sqlite.run("PRAGMA foreign_keys = ON");
  sqlite.run("PRAGMA secure_delete = ON");
}

function createDatabase(sqlite: Sqlite): SqliteDatabase {
  const mutex = createMutex();
  const statements = createStatements(sqlite);
  const log = createWriteAheadLog(sqlite);
  let isClosed = false;

  const transact = async <Result>(task: (tx: Orm) => Promise<Result>): Promise<Result> => {
    sqlite.run("BEGIN IMMEDIATE");
    let isOver = false;
    const tx = createSqliteOrm((...statement) => {
      // A full disk ends a transaction. A later statement would then be committed on its own.
      if (isOver || !sqlite.inTransaction) throw new Error("The transaction is over.");
      return statements.execute(...statement);
    });
    try {
      const result = await task(tx);
      sqlite.run("COMMIT");
      return result;
    } catch (error) {
      if (sqlite.inTransaction) sqlite.run("ROLLBACK");
      throw error;
    } finally {
      isOver = true;
    }
  };

  const attempt = async (task: (tx: Orm) => Promise<unknown>): Promise<boolean> => {
    if (isClosed) return false;
    sqlite.run("PRAGMA busy_timeout = 0");
    // `synchronous` stays FULL: with NORMAL, a failed sync also loses earlier transactions, and with them
    // everything that is written to the log later.
    try {
      await transact(task);
      return true;
    } catch (error) {
      if (error instanceof SQLiteError) return false;
      throw error;
    } finally {
      sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  };

  return {
    dialect,
    orm: createSqliteOrm(async (...statement) =>
      mutex.whenFree(() => statements.execute(...statement)),
    ),
    tables: createTableDeclarations(dialect),
    transaction: (task) => mutex.hold(() => transact(task)),
    attempt: (task) => mutex.hold(() => attempt(task)),
    async isReachable() {
      // Writes to an open file that was removed or replaced would be lost.
      if (!existsSync(sqlite.filename)) return false;
      sqlite.query("SELECT id FROM accounts LIMIT 1").get();
      return true;
    },
    async expunge() {
      await mutex.whenFree(log.truncate);
    },
    sqlite,
    exclusively: mutex.whenFree,
    // `close` has truncated the log.
    voidFailed: () => isClosed || log.voidFailed(),
    truncateLog: () => isClosed || log.truncateWithoutWaiting(),
    differ: log.differ,

    close: () =>
      mutex.hold(async () => {
        if (isClosed) return;
        // Drizzle's prepared statements keep the file and its log open until they are garbage collected,
        // so the log is truncated here.
        isClosed = true;
        statements.close();
        log.truncateWithoutWaiting();
        sqlite.close();
      }),
  };
}
