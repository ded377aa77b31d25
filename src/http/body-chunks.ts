import { AppError } from "../errors.ts";
import { withTimeLimit } from "../timing/time-limit.ts";

/** The time for which a body may wait: milliseconds at the most, and one more for each 8 bytes that arrive. */
const TIME_LIMIT = { base: 30_000, bytesPerMs: 8 };

/**
 * Reads the body of a request in chunks. Only the time spent waiting counts. A body that is slower than
 * 8 kB/s for long is refused, so that a client that sends single bytes holds no resources.
 * @throws AppError `malformed_request` when it stops or is too slow
 */
export async function* readChunks(
  { body }: Pick<Request, "body">,
  timeLimit = TIME_LIMIT,
): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader();
  if (!reader) return;
  let allowed = timeLimit.base;
  try {
    for (;;) {
      const started = performance.now();
      const chunk = await within(allowed, reader.read());
      if (chunk.done) return;
      const left = allowed - (performance.now() - started);
      // What arrives quickly earns no time to stop later.
      allowed = Math.min(timeLimit.base, left + chunk.value.length / timeLimit.bytesPerMs);
      yield chunk.value;
    }
  } finally {
    // The rest of the body is not needed.
    void reader.cancel().catch(() => {});
  }
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  try {
    return await withTimeLimit(work, milliseconds, () => {
      throw new Error("too slow");
    });
  } catch (cause) {
    throw new AppError("malformed_request", "The body did not arrive in time, or is incomplete.", {
      cause,
    });
  }
}
