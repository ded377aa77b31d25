import { DatabaseUnavailable, sqlState } from "../db/database-error.ts";
import { CtxdError } from "../errors.ts";
import type { Log } from "../log.ts";

/** A server can't start with these settings. `message` is the line that the user sees. */
export class ServerError extends CtxdError {
  readonly code = "server_failed";
}

/** Milliseconds that a start waits for a database that can't be reached, and between two attempts. */
const START_TIMEOUT_MS = 60_000;
const RETRY_AFTER_MS = 1_000;

/** Repeats a task until the database can be reached: server and database may start together. */
export async function untilReachable<Result>(
  task: () => Promise<Result>,
  logger: Log,
): Promise<Result> {
  let isLogged = false;
  for (const end = performance.now() + START_TIMEOUT_MS; ; await Bun.sleep(RETRY_AFTER_MS)) {
    try {
      return await task();
    } catch (error) {
      // An error that PostgreSQL itself reports is final, unless it is starting or stopping (57P…).
      const mayRecover =
        error instanceof DatabaseUnavailable && /^57P|^null$/.test(`${sqlState(error)}`);
      if (!mayRecover || performance.now() > end) throw error;
      if (!isLogged) logger.warn("waiting_for_database");
      isLogged = true;
    }
  }
}
