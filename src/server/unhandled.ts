import type { Log } from "../log.ts";

/**
 * Has promises that fail, and that nobody waits for, be told in the log. Without this they would end
 * the program for everybody. Returns what ends it.
 */
export function logUnhandled(log: Log): () => void {
  const tell = (error: unknown) =>
    log.error("unhandled", { cause: error instanceof Error ? error.stack : String(error) });
  process.on("unhandledRejection", tell);
  return () => void process.off("unhandledRejection", tell);
}
