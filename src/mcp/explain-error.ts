import { AppError } from "../errors.ts";
import type { Log } from "../log.ts";

/**
 * What a model is told of an error: what is wrong and what to do next. Anything unforeseen is told
 * to the log alone, and to the model by an id.
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
