import { existsSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../db/data-lock.ts";
import { openUnmigrated, schemaVersion } from "../db/sqlite-files.ts";
import { errorCode } from "../errors.ts";
import { isNewestCheckpoint, type RecordedCheckpoint } from "../memories/log/records.ts";
import { BackupError } from "./backup-error.ts";

/** The folder in a data folder that a restore fills, before it moves the content to its place. */
export const RESTORE_FOLDER = "restoring";

/**
 * Call this before using a data folder, while holding its lock.
 * @throws BackupError when a restore to it was interrupted
 */
export function refuseUnfinishedRestore(dataDir: string): void {
  const folder = join(dataDir, RESTORE_FOLDER);
  try {
    // An empty folder has no files: the restore ended before the first or after the last one.
    rmdirSync(folder);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw new BackupError(
      `A restore to ${dataDir} was interrupted: run ctxd restore again, or remove ${folder} to start without it.`,
    );
  }
}

/** The data that is backed up. Servers may write to it meanwhile. */
export interface BackupSource {
  readonly name: string;
  /** Schema version of its database. */
  schema(): Promise<number>;
  /**
   * Copies the current state of a shared database to a new SQLite file that only its owner can read. The copy
   * contains no deleted data, and is durable when this resolves. Null for a data folder, which has such a file.
   */
  readonly copyDatabase: ((path: string) => Promise<void>) | null;
  /**
   * Whether an earlier read checkpoint is still the newest of its table. As long as it is, its base
   * exists.
   */
  isNewest(checkpoint: RecordedCheckpoint): Promise<boolean>;
  /** Number of bases that are copied concurrently. */
  readonly atOnce: number;
  /**
   * Passes the folder of all bases to `use`. While `use` runs, the folder has the files of the checkpoint
   * that still exist.
   */
  withBase(checkpoint: RecordedCheckpoint, use: (memories: string) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a data folder as a source, even while a server uses it.
 * @throws BackupError or DatabaseError when it has no data that can be backed up
 */
export function openDataFolder(dataDir: string): BackupSource {
  if (existsSync(join(dataDir, RESTORE_FOLDER))) {
    throw new BackupError(
      `A restore to ${dataDir} is running or was interrupted: finish it first.`,
    );
  }
  if (!existsSync(databasePath(dataDir))) {
    throw new BackupError(`There is nothing to back up: ${dataDir} has no data.`);
  }
  const live = openUnmigrated(databasePath(dataDir));
  return {
    name: dataDir,
    schema: async () => schemaVersion(live),
    copyDatabase: null,
    isNewest: async (checkpoint) => isNewestCheckpoint(live, checkpoint),
    // The files of one base are copied concurrently.
    atOnce: 1,
    withBase: (_, use) => use(join(dataDir, "memories")),
    close: async () => live.close(),
  };
}
