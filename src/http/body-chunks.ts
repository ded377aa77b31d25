import { AppError } from "../errors.ts";
import { withTimeLimit } from "../time-limit.ts";

/** Milliseconds that a body may be waited for in all, and for how many of its bytes one more. */
const PATIENCE = { base: 30_000, bytesPerMs: 8 };

/**
 * The body of a request as it comes. Time counts only while it is waited for: slower than 8 kB/s for
 * long, and it is given up, so that who sends a byte now and then holds nothing.
 * @throws AppError `malformed_request` when it stops coming, or comes too slowly
 */
export async function* readChunks(
  { body }: Pick<Request, "body">,
  patience = PATIENCE,
): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader();
  if (!reader) return;
  let allowed = patience.base;
  try {
    for (;;) {
      const started = performance.now();
      const chunk = await within(allowed, reader.read());
      if (chunk.done) return;
      allowed += chunk.value.length / patience.bytesPerMs - (performance.now() - started);
      yield chunk.value;
    }
  } finally {
    // What is not read any more need not come.
    void reader.cancel().catch(() => {});
  }
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  try {
    return await withTimeLimit(work, milliseconds, () => {
      throw new Error("too slow");
    });
  } catch (cause) {
    throw new AppError("malformed_request", "The body did not arrive in time, or not whole.", {
      cause,
    });
  }
}
