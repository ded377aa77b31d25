import { open } from "node:fs/promises";
import { createStallTimer, requestFailure } from "../downloads.ts";
import { CtxdError } from "../errors.ts";
import { ModelError } from "./model-error.ts";

/** How often a download goes on after a break, and the milliseconds before the first time. */
const TRIES = 4;
const PAUSE = 1_000;

/**
 * Downloads a file. What a former call has left of it stays, and the rest is asked for; after a break it
 * goes on by itself some times.
 * @param part may have the beginning
 * @param bytes that the file has
 * @throws ModelError when the server does not give it
 */
export async function download(
  url: string,
  part: string,
  bytes: number,
  {
    onBytes,
    signal,
    pause = PAUSE,
  }: { onBytes: (count: number) => void; signal?: AbortSignal; pause?: number },
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await append(url, part, bytes, { onBytes, ...(signal && { signal }) });
    } catch (cause) {
      signal?.throwIfAborted();
      // A disk that is full, say: the file is at fault and not the server.
      if (isOfFile(cause)) throw cause;
      const isFinal = cause instanceof Refusal || attempt === TRIES;
      if (!isFinal) {
        await Bun.sleep(pause * 2 ** (attempt - 1));
        continue;
      }
      throw new ModelError(
        `${url} can't be fetched (${requestFailure(cause)}): try again, it goes on where it was; or give the file to ctxd model fetch with --file.`,
        { cause },
      );
    }
  }
}

/** An answer that another try would not change. */
class Refusal extends CtxdError {
  override readonly name = "Refusal";
  readonly code = "download_refused";
}

const OF_FILES: readonly unknown[] = ["open", "write", "fsync", "ftruncate"];

function isOfFile(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && OF_FILES.includes(error.syscall);
}

/** One try: asks for what is missing and appends it. */
async function append(
  url: string,
  part: string,
  bytes: number,
  { onBytes, signal }: { onBytes: (count: number) => void; signal?: AbortSignal },
): Promise<void> {
  const handle = await open(part, "a", 0o600);
  try {
    const there = (await handle.stat()).size;
    if (there > bytes) await handle.truncate(0);
    let size = there > bytes ? 0 : there;
    if (size === bytes) return;
    using stall = createStallTimer();
    const response = await fetch(url, {
      headers: size > 0 ? { range: `bytes=${size}-` } : {},
      signal: signal ? AbortSignal.any([signal, stall.signal]) : stall.signal,
    });
    const goesOn =
      response.status === 206 &&
      response.headers.get("content-range")?.startsWith(`bytes ${size}-`) === true;
    if (!goesOn && response.status !== 200) {
      const message = `the answer is ${response.status}`;
      if (response.status === 416) await handle.truncate(0);
      else if (response.status < 500 && response.status !== 429) throw new Refusal(message);
      throw new Error(message);
    }
    // Who does not know ranges begins at the beginning.
    if (!goesOn) {
      await handle.truncate(0);
      size = 0;
    }
    for await (const chunk of response.body ?? []) {
      stall.restart();
      if (size + chunk.byteLength > bytes) throw new Refusal("more comes than the file has");
      await handle.writeFile(chunk);
      size += chunk.byteLength;
      onBytes(size);
    }
    if (size < bytes) throw new Error(`${size} of ${bytes} bytes came`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
