import { AwsV4Signer } from "aws4fetch";
import type { ObjectSettings } from "../shared-settings.ts";
import { FOREIGN, NO_ANSWER, ObjectStoreError } from "./object-store-error.ts";

/** Milliseconds that a call waits for a sign of life. */
const PATIENCE = 5_000;
/** Times that a call is made, and milliseconds before the second one, which grow four times each. */
const ATTEMPTS = 3;
const AGAIN = 100;
/** Bytes a second that a slow network brings at the least. */
const SLOWEST = 1 << 16;

export interface Call {
  method: "GET" | "PUT" | "DELETE";
  /** The object; none for the bucket itself. */
  key?: string;
  query?: Readonly<Record<string, string>>;
  body?: Blob;
}

export interface CallOptions {
  /** Milliseconds without a sign of life after which a call is given up. */
  patience?: number;
}

/** Reads an answer, and tells of each sign of life. */
export type ReadAnswer<Result> = (answer: Response, alive: () => void) => Promise<Result>;

export type SignedCall = <Result>(call: Call, read: ReadAnswer<Result>) => Promise<Result>;

/**
 * Makes what calls an object store by HTTP, some times where that may help. It is not Bun's own S3 client: its calls
 * can't be given up when a store hangs, it leaves parts of large files in the bucket when the process
 * ends, where no listing shows them, and it can't ask a bucket for its versioning.
 */
export function createSignedCall(
  settings: ObjectSettings,
  { patience = PATIENCE }: CallOptions = {},
): SignedCall {
  const { accessKeyId, secretAccessKey, sessionToken, region, bucket } = settings;
  const endpoint = settings.endpoint ?? `https://s3.${region}.amazonaws.com`;
  const keys = new Map<string, ArrayBuffer>();

  const sign = async ({ method, key = "", query = {} }: Call) => {
    const path = key.split("/").map(encodeURIComponent).join("/");
    const url = new URL(`${endpoint}/${bucket}/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      ...{ method, url: url.href, accessKeyId, secretAccessKey, region },
      ...(sessionToken !== null && { sessionToken }),
      ...{ service: "s3", cache: keys },
    });
    return await signer.sign();
  };

  const attempt = async <Result>(call: Call, read: ReadAnswer<Result>): Promise<Result> => {
    const what = `${call.method} ${call.key ?? bucket}`;
    const { url, headers } = await sign(call);
    // Not signed: proxies change it.
    headers.set("accept-encoding", "identity");
    const giveUp = new ObjectStoreError(NO_ANSWER, { what });
    const watch = startWatch(patience + (1_000 * (call.body?.size ?? 0)) / SLOWEST, giveUp);
    try {
      const answer = await fetch(url, {
        ...{ method: call.method, headers, redirect: "manual", signal: watch.signal },
        ...(call.body && { body: call.body }),
      });
      watch.alive();
      if (answer.ok) return await read(answer, watch.alive);
      throw await toError(answer, what);
    } catch (error) {
      if (watch.signal.aborted) throw giveUp;
      throw explain(error, what);
    } finally {
      watch.end();
    }
  };

  return async (call, read) => {
    for (let time = 1; ; time++) {
      try {
        return await attempt(call, read);
      } catch (error) {
        const isTransient = error instanceof ObjectStoreError && error.isTransient;
        if (!isTransient || time === ATTEMPTS) throw error;
        await Bun.sleep(AGAIN * 4 ** (time - 1) * (0.5 + Math.random()));
      }
    }
  };
}

/** Aborts a call after so many milliseconds without a sign of life. */
function startWatch(patience: number, reason: Error) {
  const controller = new AbortController();
  const start = () => setTimeout(() => controller.abort(reason), patience);
  let timer = start();
  return {
    signal: controller.signal,
    alive() {
      clearTimeout(timer);
      timer = start();
    },
    end: () => clearTimeout(timer),
  };
}

/** What an answer says that is not 2xx (Amazon S3 API reference, "Error responses"). */
async function toError(answer: Response, what: string): Promise<ObjectStoreError> {
  const { status, headers } = answer;
  const body = await answer.text();
  const region = headers.get("x-amz-bucket-region") ?? /<Region>([\w-]+)</.exec(body)?.[1] ?? null;
  const at = Date.parse(headers.get("date") ?? "");
  const code = /<Code>(\w+)<\/Code>/.exec(body)?.[1] ?? FOREIGN;
  return new ObjectStoreError(code, { what, status, region, at: Number.isNaN(at) ? null : at });
}

/** What the network reports; other errors, such as those of the disk, stay as they are. */
function explain(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || error instanceof ObjectStoreError) return error;
  if ("syscall" in error && !/connect|recv|send/.test(String(error.syscall))) return error;
  const code = "code" in error ? String(error.code) : error.message;
  return new ObjectStoreError(code, { what, cause: error });
}
