import type { Progress } from "../backup/create-backup.ts";

/** A job that takes longer than this, in milliseconds, tells how far it is; and how often it does. */
const PATIENCE = 1_000;
const INTERVAL = 100;
/** Characters of a bar. */
const BAR = 24;

/** One line on a terminal that is rewritten, by long jobs alone; nothing where there is no terminal. */
function createLine(terminal: NodeJS.WriteStream) {
  let next = performance.now() + PATIENCE;
  let isShown = false;
  return {
    show(describe: () => string) {
      const now = performance.now();
      if (!terminal.isTTY || now < next) return;
      next = now + INTERVAL;
      isShown = true;
      terminal.write(`\r\x1b[K${describe()}`);
    },
    /** Removes the line. */
    end() {
      if (isShown) terminal.write("\r\x1b[K");
      isShown = false;
    },
  };
}

/** Shows on a terminal how far a job is. */
export function createProgress(terminal: NodeJS.WriteStream = process.stderr): {
  onProgress: Progress;
  /** Removes what is shown. */
  end(): void;
} {
  const line = createLine(terminal);
  return {
    onProgress({ step, count, total }) {
      line.show(() => {
        const share = total > 0 ? Math.floor((100 * count) / total) : 100;
        return `${step}: ${count} of ${total} (${share} %)`;
      });
    },
    end: line.end,
  };
}

/**
 * Shows on a terminal how much a job has moved, how fast, and how far it is where that is known.
 * @param step what is done, such as `Importing`
 */
export function createMeter(step: string, terminal: NodeJS.WriteStream = process.stderr) {
  const line = createLine(terminal);
  const started = performance.now();
  return {
    /** @param share 0 to 1; null when it is not known */
    show(count: number, share: number | null) {
      line.show(() => {
        const seconds = (performance.now() - started) / 1_000;
        const rate = `${count.toLocaleString("en")} memories, ${Math.round(count / seconds)} a second`;
        if (share === null) return `${step} ${rate}`;
        const left = share > 0 ? formatTime((seconds * (1 - share)) / share) : "?";
        return `${step} ${drawBar(share)} ${Math.floor(100 * share)} %  ${rate}, ${left} left`;
      });
    },
    end: line.end,
  };
}

/** Shows on a terminal how many bytes have come. @param step what is done, such as `Fetching` */
export function createByteMeter(step: string, terminal: NodeJS.WriteStream = process.stderr) {
  const line = createLine(terminal);
  return {
    show(count: number, total: number) {
      line.show(() => {
        const share = total > 0 ? count / total : 1;
        const megabytes = (bytes: number) => Math.round(bytes / 1e6);
        return `${step} ${drawBar(share)} ${Math.floor(100 * share)} %  ${megabytes(count)} of ${megabytes(total)} MB`;
      });
    },
    end: line.end,
  };
}

function drawBar(share: number): string {
  const full = Math.round(share * BAR);
  return "█".repeat(full) + "░".repeat(BAR - full);
}

function formatTime(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
