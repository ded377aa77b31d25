import type { Progress } from "../backup/create-backup.ts";

/** Milliseconds after which a job begins to show its progress, and between two updates. */
const SHOW_AFTER_MS = 1_000;
const UPDATE_EVERY_MS = 100;
/** Width of a progress bar, in characters. */
const BAR_WIDTH = 24;

/**
 * A line of progress that long jobs overwrite again and again. It is not shown without a terminal.
 * @param describe makes the line from what is known about the progress
 */
function createLine<Facts extends readonly unknown[]>(
  terminal: NodeJS.WriteStream,
  describe: (...facts: Facts) => string,
) {
  let next = performance.now() + SHOW_AFTER_MS;
  let isShown = false;
  return {
    show(...facts: Facts) {
      const now = performance.now();
      if (!terminal.isTTY || now < next) return;
      next = now + UPDATE_EVERY_MS;
      isShown = true;
      terminal.write(`\r\x1b[K${describe(...facts)}`);
    },
    /** Removes the line. */
    end() {
      if (isShown) terminal.write("\r\x1b[K");
      isShown = false;
    },
  };
}

/** Shows how many steps of a job are done. */
export function createProgress(terminal: NodeJS.WriteStream = process.stderr) {
  const { show: onProgress, end } = createLine<Parameters<Progress>>(
    terminal,
    ({ step, count, total }) => {
      const share = total > 0 ? Math.floor((100 * count) / total) : 100;
      return `${step}: ${count} of ${total} (${share} %)`;
    },
  );
  return { onProgress, end };
}

/**
 * Shows how many memories a job has transferred, how fast, and how much is left if its share is known (0 to 1).
 * @param step the job's name, such as `Importing`
 */
export function createMeter(step: string, terminal: NodeJS.WriteStream = process.stderr) {
  const started = performance.now();
  return createLine(terminal, (count: number, share: number | null) => {
    const seconds = (performance.now() - started) / 1_000;
    const rate = `${count.toLocaleString("en")} memories, ${Math.round(count / seconds)} a second`;
    if (share === null) return `${step} ${rate}`;
    const left = share > 0 ? formatTime((seconds * (1 - share)) / share) : "?";
    return `${step} ${drawBar(share)} ${Math.floor(100 * share)} %  ${rate}, ${left} left`;
  });
}

/** Shows how many bytes have been downloaded. @param step the job's name, such as `Fetching` */
export function createByteMeter(step: string, terminal: NodeJS.WriteStream = process.stderr) {
  return createLine(terminal, (count: number, total: number) => {
    const share = total > 0 ? count / total : 1;
    const megabytes = (bytes: number) => Math.round(bytes / 1e6);
    return `${step} ${drawBar(share)} ${Math.floor(100 * share)} %  ${megabytes(count)} of ${megabytes(total)} MB`;
  });
}

function drawBar(share: number): string {
  const full = Math.round(share * BAR_WIDTH);
  return "█".repeat(full) + "░".repeat(BAR_WIDTH - full);
}

function formatTime(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
