/** What LanceDB, SQLite and Bun say when there is no space left. */
const OF_FULL = /ENOSPC|EDQUOT|SQLITE_FULL|No space left on device|disk is full|quota exceeded/i;
/** What they say when the disk does not do its work, for this reason or another. */
const OF_DISK = /SQLITE_(IOERR|FULL)|\b(EIO|ENOSPC|EDQUOT)\b|LanceError\((IO\)|Arrow\): Io error)/;

/** Whether an error, or what caused it, is that the disk is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return OF_FULL.test(saidBy(error)) || isDiskFull(error.cause);
}

/** Whether an error is that the disk is full or reports an error. */
export function isOfDisk(error: unknown): boolean {
  return error instanceof Error && OF_DISK.test(saidBy(error));
}

function saidBy(error: Error): string {
  return `${"code" in error ? String(error.code) : ""} ${error.message}`;
}
