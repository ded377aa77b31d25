import { SQLiteError, type Database as Sqlite } from "bun:sqlite";

/** How long a statement waits for another process, in milliseconds. */
export const BUSY_TIMEOUT = 5_000;

/**
 * Keeps in SQLite's write-ahead log neither what was deleted nor what failed, synchronously.
 * `SqliteDatabase` says what each does.
 */
export function createWriteAheadLog(sqlite: Sqlite) {
  const version = sqlite.query<{ user_version: number }, []>("PRAGMA user_version");
  const truncation = sqlite.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)");

  // What is there already: a transaction of one page.
  const rewriteVersion = sqlite.transaction(() => {
    const { user_version } = version.get() ?? {};
    sqlite.run(`PRAGMA user_version = ${user_version}`);
  });

  const atOnce = (work: () => boolean): boolean => {
    sqlite.run("PRAGMA busy_timeout = 0");
    try {
      return work();
    } catch (error) {
      if (error instanceof SQLiteError) return false;
      throw error;
    } finally {
      sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    }
  };

  const rewrite = () => {
    rewriteVersion.immediate();
    return true;
  };
  const truncate = () => truncation.get()?.busy === 0;
  const truncateAtOnce = () => atOnce(truncate);

  return {
    truncateAtOnce,

    /** Waits for other processes, for as long as a statement does. */
    truncate(): void {
      try {
        truncate();
      } catch (error) {
        if (!(error instanceof SQLiteError)) throw error;
      }
    },

    // A log without transactions gets its header first, and nothing is overwritten if that can't be
    // synced. Then the log can be emptied, which takes no sync.
    voidFailed: (): boolean => atOnce(rewrite) || truncateAtOnce(),

    differ(): void {
      const [any = 0] = crypto.getRandomValues(new Int32Array(1));
      sqlite.run(`PRAGMA application_id = ${any}`);
    },
  };
}
