import { accessSync, constants, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { CtxdError } from "../errors.ts";

/**
 * The database can't be used. `message` is one sentence for the person who runs the program. It says
 * what is wrong with which file and what to do.
 */
export class DatabaseError extends CtxdError {
  override readonly name = "DatabaseError";
  readonly code = "database_unusable";
}

const CHOOSE = "choose another folder with --data-dir or CTXD_DATA_DIR";

/** Reasons by SQLite's result codes and the error codes of the file system. */
const REASONS: readonly (readonly [code: RegExp, reason: string])[] = [
  [
    /^(SQLITE_FULL|ENOSPC|EDQUOT)/,
    "can't be written because the disk is full: free some space and try again",
  ],
  [
    /^(SQLITE_NOTADB|SQLITE_CORRUPT)/,
    `is damaged or not a database of ctxd: restore a backup, or ${CHOOSE}`,
  ],
  [
    /^(SQLITE_BUSY|SQLITE_LOCKED)/,
    "is in use by another process: try again when that has finished",
  ],
  [/^EROFS/, `is on a read-only file system: make it writable, or ${CHOOSE}`],
  [
    /^(EACCES|EPERM|SQLITE_READONLY|SQLITE_PERM|SQLITE_AUTH)/,
    `can't be written, permission is denied: change its owner or mode, or ${CHOOSE}`,
  ],
  [/^(ENOTDIR|EEXIST)/, `can't be created because a file is where a folder should be: ${CHOOSE}`],
  [/^(SQLITE_CANTOPEN|EISDIR|ENOENT|ENAMETOOLONG|ELOOP|EINVAL)/, `can't be opened: ${CHOOSE}`],
  [/^(SQLITE_IOERR|EIO)/, "can't be read or written: check the disk"],
];

/** Error codes when this user may not write. */
const DENIED = /^(EACCES|EPERM|SQLITE_CANTOPEN|SQLITE_READONLY|SQLITE_PERM|SQLITE_AUTH)/;

/**
 * Explains an error of SQLite or of the file system that occurred with the database at `path`; `null` for
 * an error of another kind, such as a violated constraint or a bug.
 */
export function explainDatabaseError(error: unknown, path: string): DatabaseError | null {
  if (error instanceof DatabaseError) return error;
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string")
    return null;
  // SQLite reports only an I/O error when its shared-memory file does not fit on the disk.
  const code = /^SQLITE_IOERR/.test(error.code) && isFull(path) ? "SQLITE_FULL" : error.code;
  const foreign = DENIED.test(code) ? explainForeignFolder(dirname(path)) : null;
  if (foreign) return new DatabaseError(foreign, { cause: error });
  const reason = REASONS.find(([pattern]) => pattern.test(code))?.[1];
  return reason ? new DatabaseError(`The database ${path} ${reason}.`, { cause: error }) : null;
}

/**
 * Explains a folder that belongs to another user; `null` for other folders. Folders mounted into a
 * container often do, and nothing in the container shows it.
 */
function explainForeignFolder(folder: string): string | null {
  const [own, group] = [process.getuid?.(), process.getgid?.()];
  try {
    const { uid } = statSync(folder);
    if (own === undefined || uid === own) return null;
    accessSync(folder, constants.W_OK);
    return null;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EACCES")) return null;
    return `The data folder ${folder} can't be written by the user that ctxd runs as (${own}): change its owner with chown -R ${own}:${group} (for a container, on the folder that is mounted there), or ${CHOOSE}.`;
  }
}

/** Whether the disk has less free space than one page of SQLite's shared-memory file takes. */
function isFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < 32_768;
  } catch {
    return false;
  }
}
