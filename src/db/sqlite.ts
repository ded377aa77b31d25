import { SQLiteError, type SQLQueryBindings, Database as Sqlite, type Statement } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { LRUCache } from "lru-cache";
import { isBusy } from "./data-lock.ts";
import { type Database, type Orm, sqliteDialect } from "./database.ts";
import { explainDatabaseError } from "./database-error.ts";
import { createMutex } from "./mutex.ts";
import { migrateSqlite, schemaVersion } from "./sqlite-files.ts";
import { createSqliteOrm, createTableDeclarations } from "./sqlite-orm.ts";

/** Prepared statements in the cache. The program has fewer, except for those with lists of any length. */
const MAX_STATEMENTS = 200;

function createStatements(sqlite: Sqlite) {
  const prepared = new LRUCache<string, Statement>({
    max: MAX_STATEMENTS,
    dispose: (statement) => statement.finalize(),
  });

  const prepare = (sql: string): Statement => {
    const known = prepared.get(sql);
    if (known) return known;
    const statement = sqlite.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };

  return {
    execute(sql: string, parameters: unknown[], method: string): { rows: unknown[] } {
      const statement = prepare(sql);
      const bindings = parameters as SQLQueryBindings[];
      if (method !== "run") return { rows: statement.values(...bindings) };
      statement.run(...bindings);
      return { rows: [] };
    },

    /** Finalizes all statements: an open statement keeps the file open. */
    close: () => prepared.clear(),
  };
}

/** Milliseconds that a statement waits for another process. */
const BUSY_TIMEOUT_MS = 5_000;
/** Milliseconds between two tries to switch a new database to a write-ahead log. */
const SWITCH_RETRY_MS = 10;

/**
 * Removes deleted data and failed transactions from SQLite's write-ahead log, synchronously. See
 * `SqliteDatabase` for each method.
 */
function createWriteAheadLog(sqlite: Sqlite) {
  const truncation = sqlite.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)");

  // Writes the existing value: a transaction of one page without a change.
  const rewriteVersion = sqlite.transaction(() => {
    sqlite.run(`PRAGMA user_version = ${schemaVersion(sqlite)}`);
  });

  const withoutWaiting = (work: () => boolean): boolean => {
    sqlite.run("PRAGMA busy_timeout = 0");
    try {
      return work();
    } catch (error) {
      if (error instanceof SQLiteError) return false;
      throw error;
    } finally {
      sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  };

  const rewrite = () => {
    rewriteVersion.immediate();
    return true;
  };
  const truncate = () => truncation.get()?.busy === 0;
  const truncateWithoutWaiting = () => withoutWaiting(truncate);

  return {
    truncateWithoutWaiting,

    /** Waits for other processes, as long as a statement does. */
    truncate(): void {
      try {
        truncate();
      } catch (error) {
        if (!(error instanceof SQLiteError)) throw error;
      }
    },

    // In a log without transactions the header is written first. If its sync fails, nothing is
    // overwritten, but the log can be truncated, which needs no sync.
    eraseFailedTransaction: (): boolean => withoutWaiting(rewrite) || truncateWithoutWaiting(),

    makeNextTransactionUnique(): void {
      const [random = 0] = crypto.getRandomValues(new Int32Array(1));
      sqlite.run(`PRAGMA application_id = ${random}`);
    },
  };
}

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
  eraseFailedTransaction(): boolean;
  /**
   * Call this in the first transaction after one that could not be voided. It makes the first page that
   * the transaction writes to the log unique. Otherwise two transactions may begin with the same pages: if
   * the process ended after the second one wrote only these, the rest of the first one would follow them.
   */
  makeNextTransactionUnique(): void;
  /**
   * Truncates the write-ahead log, so that no file contains deleted rows. Returns false immediately when
   * another process uses the log; a later call or `close` then does it.
   */
  truncateLog(): boolean;
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
  useWriteAheadLog(sqlite);
  sqlite.run("PRAGMA synchronous = FULL");
  sqlite.run("PRAGMA foreign_keys = ON");
  sqlite.run("PRAGMA secure_delete = ON");
}

/** Of several processes that switch a new database to a log, SQLite lets some fail without waiting. */
function useWriteAheadLog(sqlite: Sqlite): void {
  for (const end = performance.now() + BUSY_TIMEOUT_MS; ; Bun.sleepSync(SWITCH_RETRY_MS)) {
    try {
      sqlite.run("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
    }
  }
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
    dialect: sqliteDialect,
    orm: createSqliteOrm(async (...statement) =>
      mutex.whenFree(() => statements.execute(...statement)),
    ),
    tables: createTableDeclarations(sqliteDialect),
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
    eraseFailedTransaction: () => isClosed || log.eraseFailedTransaction(),
    truncateLog: () => isClosed || log.truncateWithoutWaiting(),
    makeNextTransactionUnique: log.makeNextTransactionUnique,

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
