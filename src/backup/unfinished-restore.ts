import { rmdirSync } from "node:fs";
import { join } from "node:path";
import { BackupError } from "./backup-error.ts";

/** The folder in a data folder that a restore fills before it moves its content to where it belongs. */
export const UNFINISHED = "restoring";

/**
 * To be called by who is about to use a data folder and holds its lock.
 * @throws BackupError when a restore into it was cut off
 */
export function refuseUnfinishedRestore(dataDir: string): void {
  const folder = join(dataDir, UNFINISHED);
  try {
    // An empty one was left before the first file, or after the last.
    rmdirSync(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw new BackupError(
      `A restore into ${dataDir} was cut off: run ctxd restore again, or remove ${folder} to start without it.`,
    );
  }
}
