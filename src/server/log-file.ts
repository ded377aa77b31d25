import { appendFileSync, closeSync, fchmodSync, openSync, statSync, truncateSync } from "node:fs";

/** Largest size of the log file, in bytes. A larger file is emptied. */
const MAX_BYTES = 1 << 20;

/**
 * Creates a function that appends lines to a small file, which only its owner may read. If the file can't
 * be written, the lines are lost and the server goes on.
 */
export function createLogFile(path: string): (line: string) => void {
  return (line) => {
    try {
      const file = openSync(path, "a", 0o600);
      // Other users may have been allowed to read an existing file.
      fchmodSync(file, 0o600);
      closeSync(file);
      if (statSync(path).size > MAX_BYTES) truncateSync(path);
      appendFileSync(path, `${line}\n`);
    } catch {}
  };
}
