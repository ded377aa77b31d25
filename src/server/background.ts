import type { OpenSocket } from "../mcp/local-socket.ts";
import { onStopSignal } from "./stop.ts";

/** How a server runs that a bridge has started. */
export interface Background {
  /** Seconds without any use after which it ends. */
  readonly idleSeconds: number;
  /** Seconds in which its first client has to come; at most `idleSeconds`. */
  readonly firstSeconds?: number;
}

/** Seconds that a server which a bridge starts stays after its last client. */
export const IDLE_SECONDS = 300;

/**
 * Of several servers that are started at once, one that is late may get the folder when all bridges
 * have gone: nobody will ask it anything.
 */
const FIRST_SECONDS = 10;

/**
 * Resolves when the program is told to stop, when another server takes over, or when no bridge
 * holds on to it and nobody has asked it anything for a while.
 * @param lastRequest when it was last asked over HTTP, as `performance.now()` has it (the clock may be set meanwhile); 0 for never
 */
export function untilUnused(
  { idleSeconds, firstSeconds = FIRST_SECONDS }: Background,
  socket: Pick<OpenSocket, "bridges" | "lastUse" | "stopRequested">,
  lastRequest: () => number,
): Promise<void> {
  const idle = idleSeconds * 1000;
  const firstIdle = Math.min(idle, firstSeconds * 1000);
  const started = performance.now();
  return new Promise((resolve) => {
    const end = () => {
      clearInterval(timer);
      resolve();
    };
    const timer = setInterval(() => {
      const lastUse = Math.max(socket.lastUse() ?? 0, lastRequest());
      if (socket.bridges() > 0) return;
      if (performance.now() - (lastUse || started) >= (lastUse ? idle : firstIdle)) end();
    }, firstIdle);
    socket.stopRequested.then(end);
    onStopSignal(end);
  });
}
