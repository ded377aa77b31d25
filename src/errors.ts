/**
 * The base of all our errors. Programs and tests compare `code`, which never changes; messages may be
 * reworded.
 */
export abstract class CtxdError extends Error {
  abstract readonly code: string;
  override readonly name: string = this.constructor.name;
}

/** Every error code that clients can receive, with its HTTP status. */
const STATUS = {
  malformed_json: 400,
  malformed_request: 400,
  unauthorized: 401,
  forbidden: 403,
  https_required: 403,
  not_found: 404,
  memory_not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof STATUS;

/** The problem of one input field; `path` is a JSON pointer such as `/tags/3`. */
export interface ErrorDetail {
  path: string;
  message: string;
}

/**
 * The only type of error that clients see. `message` is one sentence with the problem and the remedy,
 * and never repeats the input. `cause` is for the log only.
 */
export class AppError extends CtxdError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ErrorDetail[] | undefined;
  /** Seconds after which the same request may succeed (`Retry-After`). */
  readonly retryAfter: number | undefined;
  /** The problem of the request's token (RFC 6750, section 3.1). */
  readonly challenge: "invalid_token" | "insufficient_scope" | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: ErrorDetail[];
      retryAfter?: number;
      challenge?: AppError["challenge"];
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = STATUS[code];
    this.details = options.details;
    this.retryAfter = options.retryAfter;
    this.challenge = options.challenge;
  }
}

/** The error of one field. @param problem what is wrong with it, as the end of a sentence */
export function invalidField(field: string, problem: string): AppError {
  const details = [{ path: `/${field}`, message: problem }];
  return new AppError("validation_failed", `${field} ${problem}.`, { details });
}

/** The code that the system or a library gave to a caught value, such as `ENOENT`; empty without one. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** The message of a caught value, for logs and for sentences of our own. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Where a caught value was thrown, for logs. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
