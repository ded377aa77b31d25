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
import { BUSY_TIMEOUT, createWriteAheadLog } from "./sqlite-write-ahead-log.ts";
import { createTableDeclarations } from "./table-declarations.ts";

/**
 * The database in a file of a data folder. A statement is executed when it is awaited, at once
 * unless a transaction is under way, and holds the thread meanwhile.
 */
export interface SqliteDatabase extends Database {
  /** The connection below, for what is SQLite's alone. Writes need `exclusively`. */
  readonly sqlite: Sqlite;
  /**
   * Runs what writes by the connection itself, when no transaction is under way: a statement would
   * become a part of it. When there is none, it has run when this returns.
   */
  exclusively<Result>(task: () => Result): Result | Promise<Result>;
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
   * another process is using the log, at once; then a later call or `close` does it.
   */
  truncateLog(): boolean;
}

/** Where the database lives in a data folder. */
export function databasePath(dataDir: string): string {
  return join(dataDir, "ctxd.db");
}

/**
 * Opens the database at `path` and brings its schema up to date. File and folder are made when
 * missing, for their owner alone.
 * @throws DatabaseError with one sentence for the user when that can't be done
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

function createDatabase(sqlite: Sqlite): SqliteDatabase {
  const gate = createMutex();
  const statements = createStatements(sqlite);
  const log = createWriteAheadLog(sqlite);
  let isClosed = false;

  const transact = async <Result>(task: (tx: Orm) => Promise<Result>): Promise<Result> => {
    sqlite.run("BEGIN IMMEDIATE");
    let isOver = false;
    const tx = createSqliteOrm((...statement) => {
      // A full disk ends a transaction; what came then would be made for good.
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
    // And not `synchronous = NORMAL`: when the next sync fails, what came before it is lost too, and
    // with it everything that is written to the log later.
    try {
      await transact(task);
      return true;
    } catch (error) {
      if (error instanceof SQLiteError) return false;
      throw error;
    } finally {
      sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    }
  };

  return {
    dialect,
    orm: createSqliteOrm(async (...statement) => gate.pass(() => statements.execute(...statement))),
    tables: createTableDeclarations(dialect),
    transaction: (task) => gate.hold(() => transact(task)),
    attempt: (task) => gate.hold(() => attempt(task)),
    async isReachable() {
      // A file that was removed or replaced below an open database takes writes that nobody finds again.
      if (!existsSync(sqlite.filename)) return false;
      sqlite.query("SELECT id FROM accounts LIMIT 1").get();
      return true;
    },
    async expunge() {
      await gate.pass(log.truncate);
    },
    sqlite,
    exclusively: gate.pass,
    // When it was closed, the log was emptied.
    voidFailed: () => isClosed || log.voidFailed(),
    truncateLog: () => isClosed || log.truncateAtOnce(),
    differ: log.differ,

    close: () =>
      gate.hold(async () => {
        if (isClosed) return;
        // Statements that Drizzle prepared keep the file open until they are collected, and with it
        // the log: empty it here, and do not wait for anyone to do so.
        isClosed = true;
        statements.close();
        log.truncateAtOnce();
        sqlite.close();
      }),
  };
}
