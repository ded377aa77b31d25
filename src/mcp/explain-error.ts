import { AppError } from "../errors.ts";
import type { Log } from "../log.ts";

/**
 * The error message for a model: what is wrong and what to do next. The details of an unexpected
 * error go to the log only; the model gets the id under which it was logged.
 */
export function explainError(thrown: unknown, log: Log): string {
  if (thrown instanceof AppError && thrown.status < 500) {
    return thrown.code === "memory_not_found"
      ? `${thrown.message} Search first: search_memories and list_memories show the ids.`
      : thrown.message;
  }
  const id = crypto.randomUUID();
  const cause = thrown instanceof AppError ? (thrown.cause ?? thrown) : thrown;
  const code = thrown instanceof AppError ? thrown.code : "internal";
  log.error("tool_failed", {
    code,
    id,
    cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
  });
  if (thrown instanceof AppError && thrown.code === "unavailable") {
    const when = thrown.retryAfter === undefined ? "later" : `in ${thrown.retryAfter} s`;
    return `${thrown.message} Try again ${when}.`;
  }
  return `Something went wrong on the server (${id} in its log). Nothing was returned.`;
}
