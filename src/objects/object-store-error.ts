import { CtxdError } from "../errors.ts";

/** An object store did not do what it was asked for. */
export class ObjectStoreError extends CtxdError {
  override readonly name = "ObjectStoreError";
  /** What the store calls it (Amazon S3, "Error responses"), or the system, or `NoAnswer`. */
  readonly code: string;
  /** Of HTTP; null where no answer came. */
  readonly status: number | null;
  /** Region that the answer says the bucket is in. */
  readonly region: string | null;
  /** When it was answered by the store's clock, in milliseconds since 1970. */
  readonly at: number | null;

  constructor(
    code: string,
    options: {
      what: string;
      status?: number;
      region?: string | null;
      at?: number | null;
      cause?: unknown;
    },
  ) {
    const { what, status = null, region = null, at = null, cause } = options;
    super(`${what}: ${code}${status === null ? "" : ` (${status})`}`, { cause });
    this.code = code;
    this.status = status;
    this.region = region;
    this.at = at;
  }

  /** Whether the same call may succeed in a moment. */
  get isTransient(): boolean {
    if (this.status === null) return this.code !== NO_ANSWER && !/CERT|SIGNED/.test(this.code);
    return this.status >= 500 || this.status === 429 || this.code === "RequestTimeout";
  }
}

/** The code of an answer that is none of an object store, as that of a gateway before one. */
export const FOREIGN = "ForeignAnswer";

/** The code of a call that was given up, since nothing came for too long. */
export const NO_ANSWER = "NoAnswer";

export function isNotFound(error: unknown): boolean {
  return error instanceof ObjectStoreError && error.code === "NoSuchKey";
}
