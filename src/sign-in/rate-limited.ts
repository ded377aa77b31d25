import { AppError } from "../errors.ts";

/** The answer to a form that was sent too often. */
interface RateLimited {
  readonly message: string;
  readonly status: number;
  readonly headers: Record<string, string>;
}

/** The answer to a rate-limited form. Throws any other error again. */
export function asRateLimited(error: unknown): RateLimited {
  if (!(error instanceof AppError) || error.code !== "rate_limited") throw error;
  const { message, status, retryAfter } = error;
  return { message, status, headers: { "retry-after": `${retryAfter}` } };
}
