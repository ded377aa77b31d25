import type { Log } from "../log.ts";

/**
 * Logs rejected promises that no code awaits. By default such a rejection would end the program.
 * @returns a function that stops this
 */
export function logUnhandled(log: Log): () => void {
  const write = (error: unknown) =>
    log.error("unhandled", { cause: error instanceof Error ? error.stack : String(error) });
  process.on("unhandledRejection", write);
  return () => void process.off("unhandledRejection", write);
}
