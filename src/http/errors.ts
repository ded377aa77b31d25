import { ParseError, ValidationError } from "elysia";
import { constraintViolation } from "../db/constraint-violation.ts";
import { isDiskError } from "../disk-errors.ts";
import { AppError } from "../errors.ts";
import { FULL_ACCESS } from "../keys/scopes.ts";
import type { Log } from "../log.ts";
import { validationError } from "./validation.ts";

/**
 * What a handler threw, as an answer. Anything unforeseen is `internal`, and told to the log alone.
 * @param id the request's, by which the log tells of it
 * @param resourceMetadata where a client learns how to get a token (RFC 9728, section 5.1)
 * @param toPage makes a page of it, for a person; else it is JSON
 */
export function errorResponse(
  thrown: unknown,
  {
    log,
    resourceMetadata,
    id,
    toPage = null,
  }: {
    log: Log;
    resourceMetadata: string;
    id: string;
    toPage?: ((message: string, status: number, headers: Headers) => Response) | null;
  },
): Response {
  const { error, told } = tellError(thrown, { log, id });
  const { code, message, details, status, retryAfter } = error;
  const headers = new Headers();
  if (retryAfter !== undefined) headers.set("Retry-After", String(retryAfter));
  if (code === "unauthorized" || error.challenge !== undefined) {
    headers.set("WWW-Authenticate", describeChallenge(error, resourceMetadata));
  }

  if (toPage) return toPage(told, status, headers);
  const body = { code, message, details, ...(status === 500 && { id }) };
  return Response.json({ error: body }, { status, headers });
}

/**
 * What was thrown, and the sentence that a person is told of it. What is the server's own fault is told to
 * the log.
 * @param id the request's
 */
export function tellError(
  thrown: unknown,
  { log, id }: { log: Log; id: string },
): { error: AppError; told: string } {
  const error = toAppError(thrown);
  const { code, message, status } = error;
  if (status >= 500) {
    log.error("request_failed", { id, code, cause: describeCause(error) });
  }
  return { error, told: status === 500 ? `${message} Look for ${id}.` : message };
}

/** RFC 6750, section 3; the scopes are those that a client needs for everything (MCP, "Scope Challenge Handling"). */
function describeChallenge({ challenge }: AppError, resourceMetadata: string): string {
  const error = challenge === undefined ? "" : `error="${challenge}", `;
  return `Bearer realm="ctxd", ${error}scope="${FULL_ACCESS.join(" ")}", resource_metadata="${resourceMetadata}"`;
}

function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  // Elysia wraps what a parser throws.
  if (thrown instanceof ParseError && thrown.cause instanceof AppError) return thrown.cause;
  if (thrown instanceof ValidationError) {
    const { validator, value } = thrown;
    return validationError("Errors" in validator ? validator.Errors(value) : []);
  }
  // An account or an app's access was removed while a request was under way that adds to it.
  if (constraintViolation(thrown) === "foreign key") {
    return new AppError("not_found", "This has just been removed.", { cause: thrown });
  }
  if (isDiskError(thrown)) {
    const message = "The server's disk is full or reports an error. Try again in a moment.";
    return new AppError("unavailable", message, { cause: thrown, retryAfter: 5 });
  }
  return new AppError("internal", "Something went wrong on the server. Its log tells more.", {
    cause: thrown,
  });
}

function describeCause({ cause }: AppError): string | undefined {
  if (cause === undefined) return undefined;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
