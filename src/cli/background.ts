import type { OpenSocket } from "../mcp/local-socket.ts";
import { onStopSignal } from "./stop.ts";

/** How a server runs that a bridge has started. */
export interface Background {
  /** Seconds without any use after which it ends. */
  readonly idleSeconds: number;
}

/** Seconds that a server which a bridge starts stays after its last client. */
export const IDLE_SECONDS = 300;

/**
 * Resolves when the program is told to stop, or when no bridge holds on to it and nobody has asked
 * it anything for a while.
 * @param lastRequest when it was last asked over HTTP, in milliseconds since 1970
 */
export function untilUnused(
  { idleSeconds }: Background,
  socket: Pick<OpenSocket, "bridges" | "lastUse">,
  lastRequest: () => number,
): Promise<void> {
  const idle = idleSeconds * 1000;
  return new Promise((resolve) => {
    const timer = setInterval(
      () => {
        const lastUse = Math.max(socket.lastUse(), lastRequest());
        if (socket.bridges() > 0 || Date.now() - lastUse < idle) return;
        clearInterval(timer);
        resolve();
      },
      Math.min(idle, 15_000),
    );
    onStopSignal(() => {
      clearInterval(timer);
      resolve();
    });
  });
}
