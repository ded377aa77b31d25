import { existsSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../db/sqlite.ts";
import { copyDatabase, openUnmigrated, schemaVersion } from "../db/sqlite-files.ts";
import { isNewestCheckpoint, type RecordedCheckpoint } from "../memories/log/recorded.ts";
import { BackupError } from "./backup-error.ts";
import { UNFINISHED } from "./unfinished-restore.ts";

/** What a backup is made of, while it is written to. */
export interface BackupSource {
  /** What a sentence calls it. */
  readonly name: string;
  /** How many migrations its database has seen. */
  schema(): Promise<number>;
  /**
   * Writes the database as it is at this moment to a new SQLite file, for its owner alone. What was deleted
   * before is not in it. It is on the disk when this resolves.
   */
  copyDatabase(path: string): Promise<void>;
  /**
   * Whether a checkpoint that was read before is still the newest of its table. As long as it is, its base
   * is there.
   */
  isNewest(checkpoint: RecordedCheckpoint): Promise<boolean>;
  /** How many bases are copied at the same time. */
  readonly atOnce: number;
  /**
   * Gives the folder of all bases, which has the files that the checkpoint lists, or what is left of
   * them, for as long as `use` takes.
   */
  withBase(checkpoint: RecordedCheckpoint, use: (memories: string) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/**
 * A data folder, whether a server has it open or not.
 * @throws BackupError or DatabaseError when there is nothing that can be backed up
 */
export function openDataFolder(dataDir: string): BackupSource {
  if (existsSync(join(dataDir, UNFINISHED))) {
    throw new BackupError(
      `A restore into ${dataDir} is under way or was cut off: finish it first.`,
    );
  }
  if (!existsSync(databasePath(dataDir))) {
    throw new BackupError(`There is nothing to back up: ${dataDir} has no data.`);
  }
  const live = openUnmigrated(databasePath(dataDir));
  return {
    name: dataDir,
    schema: async () => schemaVersion(live),
    copyDatabase: async (path) => copyDatabase(live, path),
    isNewest: async (checkpoint) => isNewestCheckpoint(live, checkpoint),
    // Its files are copied side by side.
    atOnce: 1,
    withBase: (_, use) => use(join(dataDir, "memories")),
    close: async () => live.close(),
  };
}
