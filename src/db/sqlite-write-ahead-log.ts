import { SQLiteError, type Database as Sqlite } from "bun:sqlite";

/** Milliseconds that a statement waits for another process. */
export const BUSY_TIMEOUT_MS = 5_000;

/**
 * Removes deleted data and failed transactions from SQLite's write-ahead log, synchronously. See
 * `SqliteDatabase` for each method.
 */
export function createWriteAheadLog(sqlite: Sqlite) {
  const version = sqlite.query<{ user_version: number }, []>("PRAGMA user_version");
  const truncation = sqlite.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)");

  // Writes the existing value: a transaction of one page without a change.
  const rewriteVersion = sqlite.transaction(() => {
    const { user_version } = version.get() ?? {};
    sqlite.run(`PRAGMA user_version = ${user_version}`);
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
    voidFailed: (): boolean => withoutWaiting(rewrite) || truncateWithoutWaiting(),

    differ(): void {
      const [random = 0] = crypto.getRandomValues(new Int32Array(1));
      sqlite.run(`PRAGMA application_id = ${random}`);
    },
  };
}
