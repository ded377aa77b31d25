import { AwsV4Signer } from "aws4fetch";
import type { ObjectSettings } from "../config/shared-settings.ts";
import { errorCode } from "../errors.ts";
import { readText } from "./body.ts";
import { NO_ANSWER, NOT_A_STORE, ObjectStoreError } from "./object-store-error.ts";

/** Milliseconds without progress after which a call is aborted. */
const TIMEOUT_MS = 5_000;
/** Attempts of a call, and milliseconds before the second one. Each later pause is four times as long. */
const MAX_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 100;
/** Bytes per second of the slowest network or store that is allowed. */
const SLOWEST = 1 << 16;

interface Call {
  method: "GET" | "PUT" | "DELETE";
  /** The key of the object; none for the bucket itself. */
  key?: string;
  query?: Readonly<Record<string, string>>;
  body?: Blob;
}

export interface CallOptions {
  /** Milliseconds without progress after which a call is aborted. */
  timeoutMs?: number;
}

/**
 * Reads an answer. It calls `alive` with the bytes of each received chunk, which restarts the time limit, unless the
 * answer trickles.
 */
type ReadAnswer<Result> = (answer: Response, alive: (bytes: number) => void) => Promise<Result>;

type SignedCall = <Result>(call: Call, read: ReadAnswer<Result>) => Promise<Result>;

/**
 * Returns a function that calls an object store by HTTP and repeats calls after transient errors. Bun's own
 * S3 client is not used, because it can't abort calls when a store hangs, can't read a bucket's versioning,
 * and leaves parts of large files in the bucket when the process ends, where no listing shows them.
 */
export function createSignedCall(
  settings: ObjectSettings,
  { timeoutMs = TIMEOUT_MS }: CallOptions = {},
): SignedCall {
  const { accessKeyId, secretAccessKey, sessionToken, region, bucket } = settings;
  const endpoint = settings.endpoint ?? `https://s3.${region}.amazonaws.com`;
  const keys = new Map<string, ArrayBuffer>();

  const sign = async ({ method, key = "", query = {} }: Call) => {
    const path = key.split("/").map(encodeURIComponent).join("/");
    const url = new URL(`${endpoint}/${bucket}/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== null && { sessionToken }),
      region,
      service: "s3",
      cache: keys,
    });
    return await signer.sign();
  };

  const attempt = async <Result>(call: Call, read: ReadAnswer<Result>): Promise<Result> => {
    const what = `${call.method} ${call.key ?? bucket}`;
    const { url, headers } = await sign(call);
    // Not signed, because proxies change it.
    headers.set("accept-encoding", "identity");
    const timeout = new ObjectStoreError(NO_ANSWER, { what });
    const watch = startWatch(timeoutMs + (1_000 * (call.body?.size ?? 0)) / SLOWEST, timeout);
    try {
      const answer = await fetch(url, {
        method: call.method,
        headers,
        redirect: "manual",
        signal: watch.signal,
        ...(call.body && { body: call.body }),
      });
      watch.alive(0);
      if (answer.ok) return await read(answer, watch.alive);
      throw await toError(answer, what);
    } catch (error) {
      if (watch.signal.aborted) throw timeout;
      throw explain(error, what);
    } finally {
      watch.end();
    }
  };

  return async (call, read) => {
    for (let number = 1; ; number++) {
      try {
        return await attempt(call, read);
      } catch (error) {
        const isTransient = error instanceof ObjectStoreError && error.isTransient;
        if (!isTransient || number === MAX_ATTEMPTS) throw error;
        await Bun.sleep(FIRST_PAUSE_MS * 4 ** (number - 1) * (0.5 + Math.random()));
      }
    }
  };
}

/**
 * Aborts a call after `timeoutMs` milliseconds without a call of `alive`. After twice that time, `alive` counts only
 * while the bytes come fast enough: otherwise a store could hold a call forever by a byte now and then.
 */
function startWatch(timeoutMs: number, reason: Error) {
  const controller = new AbortController();
  const start = () => setTimeout(() => controller.abort(reason), timeoutMs);
  let timer = start();
  const began = performance.now();
  let received = 0;
  return {
    signal: controller.signal,
    alive(bytes: number) {
      received += bytes;
      const allowed = 2 * timeoutMs + (1_000 * received) / SLOWEST;
      if (performance.now() - began > allowed) return;
      clearTimeout(timer);
      timer = start();
    },
    end: () => clearTimeout(timer),
  };
}

/** The error of an answer that is not 2xx (Amazon S3 API reference, "Error responses"). */
async function toError(answer: Response, what: string): Promise<ObjectStoreError> {
  const { status, headers } = answer;
  // The answer of another server may be of any length.
  const body = await readText(answer, { what }).catch(() => "");
  const region = headers.get("x-amz-bucket-region") ?? /<Region>([\w-]+)</.exec(body)?.[1] ?? null;
  const at = Date.parse(headers.get("date") ?? "");
  const code = /<Code>(\w+)<\/Code>/.exec(body)?.[1] ?? NOT_A_STORE;
  return new ObjectStoreError(code, { what, status, region, at: Number.isNaN(at) ? null : at });
}

/** Translates network errors. Other errors, such as those of the disk, are returned unchanged. */
function explain(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || error instanceof ObjectStoreError) return error;
  if ("syscall" in error && !/connect|recv|send/.test(String(error.syscall))) return error;
  return new ObjectStoreError(errorCode(error) || error.message, { what, cause: error });
}
