import type { OpenSocket } from "../local/local-socket.ts";
import { onStopSignal } from "./stop.ts";

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
