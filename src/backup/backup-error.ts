import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { CtxdError, errorCode } from "../errors.ts";

/**
 * A backup can't be created or restored. `message` is one sentence for the person who runs the program. It
 * says what is wrong with which file and what to do.
 */
export class BackupError extends CtxdError {
  readonly code = "backup_failed";
}

const REASONS: Record<string, string> = {
  ENOSPC: "the disk is full, free some space or choose another",
  EDQUOT: "the disk is full, free some space or choose another",
  EFBIG: "the file is too large for this disk",
  EACCES: "permission is denied, change its owner or mode",
  EPERM: "permission is denied, change its owner or mode",
  EROFS: "the file system is read-only, choose another folder",
  ENAMETOOLONG: "its name is too long for this disk",
  ENOENT: "it does not exist",
  ENOTDIR: "a file is where a folder should be",
  EISDIR: "it is a folder",
  ELOOP: "it is a symbolic link",
  EIO: "the disk reports an error",
};

/** Runs work on the file at `path`. @throws BackupError that explains a failure in one sentence */
export async function explainFailure<T>(
  path: string,
  verb: "read" | "written",
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof BackupError) throw cause;
    const code = errorCode(cause);
    const isPlaceMissing = verb === "written" && code === "ENOENT";
    const reason = isPlaceMissing ? placeOf(path) : (REASONS[code] ?? cause);
    throw new BackupError(`${path} can't be ${verb}: ${reason}.`, { cause });
  }
}

/** Why a path can't be created where nothing is in the way. */
function placeOf(path: string): string {
  const folder = dirname(path);
  return existsSync(folder)
    ? "the system allows no new files there, choose another folder"
    : `${folder} does not exist, create it, or choose another folder`;
}
