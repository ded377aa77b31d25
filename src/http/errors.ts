import { ParseError, ValidationError } from "elysia";
import { constraintViolation } from "../db/database-error.ts";
import { AppError, stackOf } from "../errors.ts";
import { FULL_ACCESS } from "../keys/scopes.ts";
import type { Log } from "../log.ts";
import { isDiskError } from "../system/disk-errors.ts";
import { validationError } from "./requests/validation.ts";

/**
 * Turns a thrown value into an answer. Unexpected errors become `internal`, with details only in the
 * log.
 * @param id the request's id, which the log contains too
 * @param resourceMetadata the address that tells clients how to get a token (RFC 9728, section 5.1)
 * @param toPage makes a page for people; otherwise the answer is JSON
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
  const { error, message: forPeople } = describeError(thrown, { log, id });
  const { code, message, details, status, retryAfter } = error;
  const headers = new Headers();
  if (retryAfter !== undefined) headers.set("Retry-After", String(retryAfter));
  if (code === "unauthorized" || error.challenge !== undefined) {
    headers.set("WWW-Authenticate", describeChallenge(error, resourceMetadata));
  }

  if (toPage) return toPage(forPeople, status, headers);
  const body = { code, message, details, ...(status === 500 && { id }) };
  return Response.json({ error: body }, { status, headers });
}

/**
 * The error of a thrown value, and the sentence for people. Logs errors of the server itself.
 * @param id the request's id
 */
export function describeError(
  thrown: unknown,
  { log, id }: { log: Log; id: string },
): { error: AppError; message: string } {
  const error = toAppError(thrown);
  const { code, message, status } = error;
  if (status >= 500) {
    const cause = error.cause === undefined ? undefined : stackOf(error.cause);
    log.error("request_failed", { id, code, cause });
  }
  return { error, message: status === 500 ? `${message} Look for ${id}.` : message };
}

/** RFC 6750, section 3. The scopes are those of full access (MCP, "Scope Challenge Handling"). */
function describeChallenge({ challenge }: AppError, resourceMetadata: string): string {
  const error = challenge === undefined ? "" : `error="${challenge}", `;
  return `Bearer realm="ctxd", ${error}scope="${FULL_ACCESS.join(" ")}", resource_metadata="${resourceMetadata}"`;
}

function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  // Elysia wraps the errors of parsers.
  if (thrown instanceof ParseError && thrown.cause instanceof AppError) return thrown.cause;
  if (thrown instanceof ValidationError) {
    const { validator, value } = thrown;
    return validationError("Errors" in validator ? validator.Errors(value) : []);
  }
  // The account, or the access of an app, was removed during the request.
  if (constraintViolation(thrown) === "foreign key") {
    return new AppError("not_found", "It was removed in the meantime.", { cause: thrown });
  }
  if (isDiskError(thrown)) {
    const message = "The server's disk is full or reports an error. Try again in a moment.";
    return new AppError("unavailable", message, { cause: thrown, retryAfter: 5 });
  }
  return new AppError("internal", "Something went wrong on the server. Its log has the details.", {
    cause: thrown,
  });
}

/**
 * Refuses a path with a `%` that begins no encoded character: handlers would get null instead of that part of the path.
 * @throws AppError `not_found`
 */
export function checkPath({ url }: Request): void {
  const [path = ""] = url.split("?", 1);
  if (!path.includes("%")) return;
  try {
    decodeURIComponent(path);
  } catch {
    throw nothingHere();
  }
}

function nothingHere(): AppError {
  return new AppError("not_found", "There is nothing at this path.");
}

/**
 * Distinguishes an unknown path (404) from a method that the path does not accept (405).
 * @returns a function that returns the error, and the methods that the path accepts, for the `Allow` header
 */
export function createUnrouted(
  routes: readonly { method: string; path: string }[],
): (path: string) => { error: AppError; allow: string[] } {
  const patterns = routes.map(({ method, path }) => ({
    method,
    // `/api/memories/` and `/api/memories` are the same path.
    pattern: new RegExp(`^${path.replace(/\/$/, "").replace(/:\w+/g, "[^/]+")}/?$`),
  }));
  return (path) => {
    const methods = patterns
      .filter(({ pattern }) => pattern.test(path))
      .map(({ method }) => method);
    if (methods.length === 0) return { error: nothingHere(), allow: [] };
    const allow = [...new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods)].sort();
    const message = `This path accepts only ${allow.join(", ")}.`;
    return { error: new AppError("method_not_allowed", message), allow };
  };
}
