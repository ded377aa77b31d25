import type { Static, TSchema } from "@sinclair/typebox";
import { AppError } from "../../errors.ts";
import { parseJson, TooManyValues } from "../../text/parse-json.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import { createCheck } from "./validation.ts";

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

/**
 * Creates a reader of JSON bodies of one shape. It checks the shape before the framework does. The
 * framework first merges defaults into a body, so that the fields of a `__proto__` field would count as
 * inherited. It also repeats a refused body in an error whose size grows with the square of the body's
 * depth.
 * @param maxBytes longer bodies are refused, before reading if the client sends the length
 * @throws AppError `unsupported_media_type`, `too_large`, `malformed_json` or `validation_failed`
 */
export function createBodyReader<Schema extends TSchema>(
  schema: Schema,
  maxBytes: number,
): (request: Request) => Promise<Static<Schema>> {
  const check = createCheck(schema);
  return async (request) => {
    checkJsonType(request);
    return check(parseBody(await readBytes(request, maxBytes)));
  };
}

/** @throws AppError `unsupported_media_type` */
export function checkJsonType(request: Request): void {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new AppError(
      "unsupported_media_type",
      "The body must be JSON: send it with `Content-Type: application/json`.",
    );
  }
  if (request.headers.has("content-encoding")) {
    throw new AppError("unsupported_media_type", "The body must not be compressed.");
  }
}

/** @throws AppError `malformed_json`, or `too_large` for more values than any request may have */
export function parseBody(bytes: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    if (cause instanceof TooManyValues) {
      throw new AppError("too_large", "The body has more values than any request may have.", {
        cause,
      });
    }
    throw new AppError("malformed_json", "The body is not valid JSON in UTF-8.", { cause });
  }
}

/**
 * Reads the body. If the client sends a length above `maxBytes`, nothing is read.
 * @throws AppError `too_large`
 */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks = await Array.fromAsync(readLimited(request, maxBytes));
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** Reads the body in chunks, otherwise like `readBytes`. */
export async function* readLimited(
  request: Request,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  const tooLarge = () =>
    new AppError("too_large", `The body is larger than the ${maxBytes} bytes allowed here.`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  // A chunked body has no length in advance: count it.
  let length = 0;
  for await (const chunk of readChunks(request)) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    yield chunk;
  }
}
