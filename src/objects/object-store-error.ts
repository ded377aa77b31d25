/** An object store did not do what it was asked for. */
export class ObjectStoreError extends Error {
  override readonly name = "ObjectStoreError";
  /** What the store calls it (Amazon S3, "Error responses"), or the system, or `NoAnswer`. */
  readonly code: string;
  /** Of HTTP; null where no answer came. */
  readonly status: number | null;

  constructor(
    code: string,
    { status = null, what, cause }: { status?: number | null; what: string; cause?: unknown },
  ) {
    super(`${what}: ${code}${status === null ? "" : ` (${status})`}`, { cause });
    this.code = code;
    this.status = status;
  }

  /** Whether the same call may succeed in a moment. */
  get isTransient(): boolean {
    if (this.status === null) return this.code !== NO_ANSWER;
    return this.status >= 500 || this.status === 429 || this.code === "RequestTimeout";
  }
}

/** The code of a call that was given up, since nothing came for too long. */
export const NO_ANSWER = "NoAnswer";

export function isNotFound(error: unknown): boolean {
  return error instanceof ObjectStoreError && error.code === "NoSuchKey";
}
