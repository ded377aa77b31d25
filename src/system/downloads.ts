import { CtxdError, messageOf } from "../errors.ts";

/** Milliseconds in which a download must receive `MIN_BYTES`. */
const STALL_TIMEOUT_MS = 60_000;
/** A kilobyte a second: with single bytes now and then, a server could keep a download going for years. */
const MIN_BYTES = 64 << 10;
/** Redirects of one download. A mirror needs one or two. */
const MAX_REDIRECTS = 5;

/** Aborts a download that has received too little for a while. @param timeoutMs for tests */
export function createStallTimer(timeoutMs = STALL_TIMEOUT_MS) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error("the download stalled")), timeoutMs);
  let count = 0;
  return {
    /** Aborted when the download has stalled. */
    signal: controller.signal,
    /** Counts received bytes. */
    received(bytes: number) {
      count += bytes;
      if (count < MIN_BYTES) return;
      count = 0;
      timer.refresh();
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

/** An answer that another attempt would not change. */
export class Refusal extends CtxdError {
  readonly code = "download_refused";
}

/**
 * Requests a file, and follows redirects. Without https they may lead only to the host that sent them, if
 * it was asked without https too. The bytes arrive as they were sent: unpacked, a few of them could be gigabytes.
 * @throws Refusal for another redirect, Error when the request fails
 */
export async function requestFile(
  address: string,
  { headers = {}, signal }: { headers?: Record<string, string>; signal: AbortSignal },
): Promise<Response> {
  let url = new URL(address);
  for (let count = 0; count <= MAX_REDIRECTS; count++) {
    const response = await fetch(url.href, {
      headers: { "user-agent": "ctxd", "accept-encoding": "identity", ...headers },
      redirect: "manual",
      decompress: false,
      signal,
    });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, url.href);
    const isSame = next?.protocol === "http:" && url.protocol === "http:" && next.host === url.host;
    if (next?.protocol !== "https:" && !isSame) {
      throw new Refusal("it redirects to an address without https");
    }
    url = next;
  }
  throw new Refusal("it redirects too often");
}

/** Reads the body of an answer into memory. @throws Error when it has more bytes */
export async function readAtMost(
  body: AsyncIterable<Uint8Array> | null,
  bytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > bytes) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return new Uint8Array(Bun.concatArrayBuffers(chunks));
}

/** Why a request failed, for the end of a sentence: without the advice that Bun appends. */
export function requestFailure(cause: unknown): string {
  return messageOf(cause).replace(/\. (?:Is the computer|For more information).*|\.$/, "");
}
