/** The problem with one field. `path` is a JSON pointer such as `/tags/3`. */
export interface ErrorDetail {
  path: string;
  message: string;
}

/**
 * A failed call. `message` is a sentence that says what to do. `code` is the server's error code, such
 * as `memory_not_found`, `validation_failed` or `rate_limited`, or one of these:
 * - `network`: the server can't be reached, or its response was cut off
 * - `timeout`: the server did not answer in time
 * - `redirected`: the server is at another address
 * - `unexpected_answer`: the response did not come from a ctxd server
 */
export class CtxdError extends Error {
  override readonly name = "CtxdError";
  readonly code: string;
  /** Status of the HTTP response; 0 without a response. */
  readonly status: number;
  /** The invalid fields, if the server names any. */
  readonly details: readonly ErrorDetail[];
  /** Seconds after which the same call may succeed, if the server gives a time. */
  readonly retryAfter: number | undefined;
  /** For the code `internal`: the id of the error in the server's log. */
  readonly id: string | undefined;

  constructor(
    code: string,
    message: string,
    options: {
      status?: number;
      details?: readonly ErrorDetail[] | undefined;
      retryAfter?: number | undefined;
      id?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? 0;
    this.details = options.details ?? [];
    this.retryAfter = options.retryAfter;
    this.id = options.id;
  }
}

/** The error of an unsuccessful response. Reads its body. */
export async function errorOf(response: Response): Promise<CtxdError> {
  const { status, headers } = response;
  // Browsers hide redirects, even their status.
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    await response.body?.cancel();
    const message = "The server is at another address. Set `url` to that address.";
    return new CtxdError("redirected", message, { status });
  }
  const retryAfter = secondsOf(headers.get("retry-after"));
  const text = await response.text();
  const said = parse(text)?.error;
  if (typeof said?.code !== "string" || typeof said.message !== "string") {
    return unexpectedAnswer(status, retryAfter);
  }
  const { code, message, details, id } = said;
  return new CtxdError(code, message, { status, details, retryAfter, id });
}

/** Parses a successful response. The caller knows its type from the server's OpenAPI document. */
export async function readJson<Answer>(response: Response): Promise<Answer> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Answer;
  } catch {
    throw unexpectedAnswer(response.status);
  }
}

function unexpectedAnswer(status: number, retryAfter?: number): CtxdError {
  const message = `The response with status ${status} is not from a ctxd server. Check \`url\`.`;
  return new CtxdError("unexpected_answer", message, { status, retryAfter });
}

interface ErrorBody {
  error?: { code?: unknown; message?: unknown; details?: ErrorDetail[]; id?: string };
}

function parse(text: string): ErrorBody | null {
  try {
    return JSON.parse(text) as ErrorBody | null;
  } catch {
    return null;
  }
}

/** `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3). */
function secondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
