import type { OpenSocket } from "../local/local-socket.ts";
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
function onStopSignal(callback: (signal: StopSignal) => void): void {
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

/** Options of a server in the background, which `ctxd mcp` or another command has started. */
export interface Background {
  /** Seconds without use after which the server ends. */
  readonly idleSeconds: number;
  /** Seconds in which the first client must connect; at most `idleSeconds`. */
  readonly firstSeconds?: number;
}

/** Seconds that a server in the background goes on after its last client. */
export const IDLE_SECONDS = 300;

/**
 * The same where agents have hooks: a conversation begins with a hook, and must not wait for a server to start. A server at
 * rest takes no processor time.
 */
const IDLE_SECONDS_WITH_HOOKS = 8 * 3_600;

/**
 * When several servers start at once, a slow one may get the data folder after all clients have gone. It
 * then ends soon.
 */
const FIRST_SECONDS = 10;

/**
 * Resolves on a stop signal, when another server takes over, when the data folder was removed, or when no bridge is
 * connected and no request has come for a while.
 * @param lastRequest time of the last HTTP request by `performance.now()`, since the clock may be set; 0 for none
 */
export function untilUnused(
  { idleSeconds, firstSeconds = FIRST_SECONDS }: Background,
  socket: Pick<OpenSocket, "bridges" | "lastUse" | "hasHooks" | "isThere" | "stopRequested">,
  lastRequest: () => number,
): Promise<void> {
  const firstIdle = Math.min(idleSeconds, firstSeconds) * 1000;
  const idleAfter = () =>
    1000 * (socket.hasHooks() ? Math.max(idleSeconds, IDLE_SECONDS_WITH_HOOKS) : idleSeconds);
  const started = performance.now();
  return new Promise((resolve) => {
    const end = () => {
      clearInterval(timer);
      resolve();
    };
    const timer = setInterval(() => {
      if (!socket.isThere()) return end();
      const lastUse = Math.max(socket.lastUse() ?? 0, lastRequest());
      if (socket.bridges() > 0) return;
      if (performance.now() - (lastUse || started) >= (lastUse ? idleAfter() : firstIdle)) end();
    }, firstIdle);
    socket.stopRequested.then(end);
    onStopSignal(end);
  });
}
