import { open } from "node:fs/promises";
import { createStallTimer, Refusal, requestFailure, requestFile } from "../system/downloads.ts";
import { ModelError } from "./model-error.ts";

/** Attempts of a download, and milliseconds before the second one. Each later pause is twice as long. */
const MAX_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 1_000;

/**
 * Downloads a file, and resumes the partial file of an earlier call. After an interruption it retries some
 * times.
 * @param part path of the partial file; it need not exist
 * @param bytes size of the complete file
 * @throws ModelError when the download fails
 */
export async function download(
  url: string,
  part: string,
  bytes: number,
  {
    onBytes,
    signal,
    pause = FIRST_PAUSE_MS,
    stallMs,
  }: {
    onBytes: (count: number) => void;
    signal?: AbortSignal;
    pause?: number;
    /** For tests: milliseconds after which an attempt has stalled. */
    stallMs?: number;
  },
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await append(url, part, bytes, { onBytes, signal, stallMs });
    } catch (cause) {
      signal?.throwIfAborted();
      // An error of the file, such as a full disk: another attempt does not help.
      if (isFileError(cause)) throw cause;
      const isFinal = cause instanceof Refusal || attempt === MAX_ATTEMPTS;
      if (!isFinal) {
        await Bun.sleep(pause * 2 ** (attempt - 1));
        continue;
      }
      throw new ModelError(
        `${url} can't be downloaded (${requestFailure(cause)}): try again to resume the download, or pass the file to ctxd model fetch with --file.`,
        { cause },
      );
    }
  }
}

const FILE_SYSCALLS: readonly unknown[] = ["open", "write", "fsync", "ftruncate"];

function isFileError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && FILE_SYSCALLS.includes(error.syscall);
}

/** One attempt: requests the missing bytes and appends them. */
async function append(
  url: string,
  part: string,
  bytes: number,
  {
    onBytes,
    signal,
    stallMs,
  }: {
    onBytes: (count: number) => void;
    signal: AbortSignal | undefined;
    stallMs: number | undefined;
  },
): Promise<void> {
  const handle = await open(part, "a", 0o600);
  try {
    const found = (await handle.stat()).size;
    if (found > bytes) await handle.truncate(0);
    let size = found > bytes ? 0 : found;
    if (size === bytes) return;
    using stall = createStallTimer(stallMs);
    const response = await requestFile(url, {
      headers: size > 0 ? { range: `bytes=${size}-` } : {},
      signal: signal ? AbortSignal.any([signal, stall.signal]) : stall.signal,
    });
    const isContinued =
      response.status === 206 &&
      response.headers.get("content-range")?.startsWith(`bytes ${size}-`) === true;
    if (!isContinued && response.status !== 200) {
      const message = `the answer is ${response.status}`;
      if (response.status === 416) await handle.truncate(0);
      else if (response.status < 500 && response.status !== 429) throw new Refusal(message);
      throw new Error(message);
    }
    // A server without support for ranges sends the whole file.
    if (!isContinued) {
      await handle.truncate(0);
      size = 0;
    }
    for await (const chunk of response.body ?? []) {
      stall.received(chunk.byteLength);
      if (size + chunk.byteLength > bytes) {
        // It is another file, so the next download must not continue it.
        await handle.truncate(0);
        throw new Refusal("the answer is larger than the file");
      }
      await handle.writeFile(chunk);
      size += chunk.byteLength;
      onBytes(size);
    }
    if (size < bytes) throw new Error(`only ${size} of ${bytes} bytes arrived`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
