import { parentOf, STOP_SIGNALS, type StopSignal, titleOf } from "../system/processes.ts";

/** Milliseconds between two checks of the parent processes. */
const CHECK_EVERY_MS = 500;

/**
 * Resolves with the first stop signal. Later signals are ignored: when Bun runs the server as a script, Ctrl-C
 * arrives twice, from the terminal and from Bun.
 */
export function untilStopped(): Promise<StopSignal> {
  return new Promise((resolve) => {
    onStopSignal(resolve);
    watchNpx(() => resolve("SIGTERM"));
  });
}

/** Calls back on each stop signal. */
export function onStopSignal(callback: (signal: StopSignal) => void): void {
  for (const signal of STOP_SIGNALS) process.on(signal, () => callback(signal));
}

/**
 * Kills the program after a time limit in milliseconds, unless it has ended by itself. No answered write is
 * lost: they are all on the disk, as in a crash.
 * @param onLate called right before
 */
export function endWithin(limit: number, onLate: () => void): void {
  const timer = setTimeout(() => {
    onLate();
    // process.exit would wait for threads, and one of them may hang.
    process.kill(process.pid, "SIGKILL");
  }, limit);
  timer.unref();
}

/**
 * Stops the server when npx has ended. npx passes SIGTERM to its shell, which ends without passing it on, so
 * that Bun and the server would go on (https://github.com/npm/cli/issues/5776). The README starts the server by
 * npx, so this is needed. Linux only: elsewhere the shell is replaced by the program that it runs.
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
  }, CHECK_EVERY_MS);
  timer.unref();
}
