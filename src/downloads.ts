import { messageOf } from "./errors.ts";

/** Milliseconds without a byte after which a download is aborted. */
const STALL_TIMEOUT_MS = 60_000;

/** Aborts a download that has received nothing for a while. */
interface StallTimer extends Disposable {
  /** Aborted when the download has stalled. */
  readonly signal: AbortSignal;
  /** Restarts the timer. Call it for all received bytes. */
  restart(): void;
}

export function createStallTimer(): StallTimer {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new Error("the download stalled")),
    STALL_TIMEOUT_MS,
  );
  return {
    signal: controller.signal,
    restart: () => void timer.refresh(),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

/** Reads the body of an answer into memory. @throws Error when it has more bytes */
export async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
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

/** Why a request failed, for the end of a sentence: without the question that Bun appends. */
export function requestFailure(cause: unknown): string {
  return messageOf(cause).replace(/\. Is the computer.*|\.$/, "");
}
