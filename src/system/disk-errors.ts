import { errorCode } from "../errors.ts";

/*
 * Recognizes a failing disk, so that callers answer 503 and retry, make room, or void a transaction. SQLite
 * and the file system report it by a code. LanceDB's errors have none, so their messages must be matched.
 */

const FULL_CODES = /^(ENOSPC|EDQUOT|SQLITE_FULL)$/;
const DISK_CODES = /^(EIO|ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR\w*)$/;

/** How LanceDB quotes the operating system's ENOSPC and EDQUOT. */
const LANCEDB_FULL = /No space left on device|Disk quota exceeded/i;
const LANCEDB_IO = /LanceError\((IO\)|Arrow\): Io error)/;

/** Whether an error, or one of its causes, says that the disk is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    FULL_CODES.test(errorCode(error)) || LANCEDB_FULL.test(error.message) || isDiskFull(error.cause)
  );
}

/** Whether an error says that the disk is full or fails. */
export function isDiskError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return DISK_CODES.test(errorCode(error)) || LANCEDB_IO.test(error.message);
}
