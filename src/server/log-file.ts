import { appendFileSync, closeSync, fchmodSync, openSync, statSync, truncateSync } from "node:fs";

/** Bytes of a log file; what comes then replaces what was there. */
const MAX_BYTES = 1 << 20;

/**
 * Makes a writer of lines to a file that only its owner may read and that stays small. A log that
 * can't be written must not stop the server: its lines are lost.
 */
export function createLogFile(path: string): (line: string) => void {
  return (line) => {
    try {
      const file = openSync(path, "a", 0o600);
      // One that was there before may be open to others.
      fchmodSync(file, 0o600);
      closeSync(file);
      if (statSync(path).size > MAX_BYTES) truncateSync(path);
      appendFileSync(path, `${line}\n`);
    } catch {}
  };
}
