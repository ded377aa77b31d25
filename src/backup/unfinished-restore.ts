import { rmdirSync } from "node:fs";
import { join } from "node:path";
import { BackupError } from "./backup-error.ts";

/** The folder in a data folder that a restore fills, before it moves the content to its place. */
export const UNFINISHED = "restoring";

/**
 * Call this before using a data folder, while holding its lock.
 * @throws BackupError when a restore to it was interrupted
 */
export function refuseUnfinishedRestore(dataDir: string): void {
  const folder = join(dataDir, UNFINISHED);
  try {
    // An empty folder has no files: the restore ended before the first or after the last one.
    rmdirSync(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw new BackupError(
      `A restore to ${dataDir} was interrupted: run ctxd restore again, or remove ${folder} to start without it.`,
    );
  }
}
