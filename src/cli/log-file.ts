import { appendFileSync, closeSync, openSync, statSync, truncateSync } from "node:fs";

/** Bytes of a log file; what comes then replaces what was there. */
const MAX_BYTES = 1 << 20;

/**
 * Makes a writer of lines to a file that only its owner may read and that stays small. A log that
 * can't be written must not stop the server: its lines are lost.
 */
export function createLogFile(path: string): (line: string) => void {
  return (line) => {
    try {
      closeSync(openSync(path, "a", 0o600));
      if (statSync(path).size > MAX_BYTES) truncateSync(path);
      appendFileSync(path, `${line}\n`);
    } catch {}
  };
}
