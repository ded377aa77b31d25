import type { Progress } from "../backup/create-backup.ts";

/** A job that takes longer than this, in milliseconds, tells how far it is; and how often it does. */
const PATIENCE = 1_000;
const INTERVAL = 100;

/** Shows on a terminal how far a job is, in one line that is rewritten. */
export function createProgress(terminal: NodeJS.WriteStream = process.stderr): {
  onProgress: Progress;
  /** Removes the line. */
  end(): void;
} {
  if (!terminal.isTTY) return { onProgress: () => {}, end() {} };
  let next = performance.now() + PATIENCE;
  let isShown = false;
  return {
    onProgress({ step, count, total }) {
      const now = performance.now();
      if (now < next) return;
      next = now + INTERVAL;
      isShown = true;
      const share = total > 0 ? Math.floor((100 * count) / total) : 100;
      terminal.write(`\r\x1b[K${step}: ${count} of ${total} (${share} %)`);
    },
    end() {
      if (isShown) terminal.write("\r\x1b[K");
    },
  };
}
