/** What LanceDB, SQLite and Bun say when there is no space left. */
const SIGNS = /ENOSPC|EDQUOT|SQLITE_FULL|No space left on device|disk is full|quota exceeded/i;

/** Whether an error, or what caused it, is that the disk is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return SIGNS.test(`${code} ${error.message}`) || isDiskFull(error.cause);
}
