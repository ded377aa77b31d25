import { parentOf, titleOf } from "../system/processes.ts";
import { STOP_SIGNALS, type StopSignal } from "../system/signals.ts";

/** Milliseconds between two looks at the processes above. */
const INTERVAL = 500;

/**
 * Resolves when the program is told to stop, with the signal. Signals that come later change nothing: Ctrl-C reaches
 * the server twice when Bun runs it as a script, from the terminal and from Bun.
 */
export function untilStopped(): Promise<StopSignal> {
  return new Promise((resolve) => {
    onStopSignal(resolve);
    watchNpx(() => resolve("SIGTERM"));
  });
}

/** Calls back when a signal tells the program to stop. */
export function onStopSignal(callback: (signal: StopSignal) => void): void {
  for (const signal of STOP_SIGNALS) process.on(signal, () => callback(signal));
}

/**
 * Ends the program after so many milliseconds, if it has not ended by itself. Nothing that was
 * answered is lost: it is on the disk, as for a crash.
 * @param onLate is called right before
 */
export function endWithin(limit: number, onLate: () => void): void {
  const timer = setTimeout(() => {
    onLate();
    // Not process.exit, which waits for threads: one of them may be what is stuck.
    process.kill(process.pid, "SIGKILL");
  }, limit);
  timer.unref();
}

/**
 * A SIGTERM that npx gets, it sends to the shell that it started, which ends and tells nobody: Bun
 * and the server would go on alone (https://github.com/npm/cli/issues/5776). So the server stops
 * when that shell or npx is gone. Linux only; elsewhere the shell is replaced by what it runs.
 */
function watchNpx(onEnd: () => void): void {
  const bun = process.ppid;
  const shell = parentOf(bun);
  const npx = parentOf(shell);
  if (!titleOf(npx).startsWith("npm exec")) return;
  const timer = setInterval(() => {
    if (parentOf(process.pid) === bun && parentOf(bun) === shell && parentOf(shell) === npx) return;
    clearInterval(timer);
    onEnd();
  }, INTERVAL);
  timer.unref();
}
