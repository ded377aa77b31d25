import { CtxdError } from "../errors.ts";

/** A call to an object store failed. */
export class ObjectStoreError extends CtxdError {
  /** The code of the store (Amazon S3, "Error responses") or of the system, or `NoAnswer`. */
  readonly code: string;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** The bucket's region, when the answer contains it. */
  readonly region: string | null;
  /** Time of the answer by the store's clock, in milliseconds since 1970. */
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

  /** Whether a retry may succeed. */
  get isTransient(): boolean {
    if (this.status === null) return this.code !== NO_ANSWER && !/CERT|SIGNED/.test(this.code);
    const isBusy = this.status >= 500 || this.status === 429;
    return isBusy || this.code === "RequestTimeout" || this.code === OTHER_CONTENT;
  }
}

/** The code of an answer that is not from an object store, such as from a gateway. */
export const NOT_A_STORE = "ForeignAnswer";

/** The code of an object whose content is not what was stored: another object's, an older one, a part of it. */
export const OTHER_CONTENT = "OtherContent";

/** The code of a call that was aborted because nothing arrived for too long. */
export const NO_ANSWER = "NoAnswer";

export function isNotFound(error: unknown): boolean {
  return error instanceof ObjectStoreError && error.code === "NoSuchKey";
}
