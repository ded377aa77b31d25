import type { Static, TSchema } from "@sinclair/typebox";
import { AppError } from "../../errors.ts";
import { isBeyond } from "../../text/parse-json.ts";
import { createPause } from "../../timing/pause.ts";
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
 * depth. Other requests run between the steps, each of which takes up to 0.1 s for a batch.
 * @param maxBytes longer bodies are refused, before reading if the client sends the length
 * @param maxValues bodies with more JSON values are refused before they are parsed
 * @throws AppError `unsupported_media_type`, `too_large`, `malformed_json` or `validation_failed`
 */
export function createBodyReader<Schema extends TSchema>(
  schema: Schema,
  maxBytes: number,
  maxValues?: number,
): (request: Request) => Promise<Static<Schema>> {
  const check = createCheck(schema);
  return async (request) => {
    requireType(request, ["application/json"], "be JSON");
    const bytes = await readBytes(request, maxBytes);
    const pause = createPause();
    const text = orMalformed(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    await pause();
    if (isBeyond(text, { values: maxValues })) {
      throw new AppError("too_large", "The body has more JSON values than allowed here.");
    }
    await pause();
    const value = orMalformed((): unknown => JSON.parse(text));
    await pause();
    const body = check(value);
    await pause();
    return body;
  };
}

/**
 * @param accepted media types, in lower case and without parameters
 * @param shape what the body must be
 * @throws AppError `unsupported_media_type`
 */
export function requireType(
  { headers }: Request,
  accepted: readonly string[],
  shape: string,
): void {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (!accepted.includes(type)) {
    const message = `The body must ${shape}: send it with \`Content-Type: ${accepted[0]}\`.`;
    throw new AppError("unsupported_media_type", message);
  }
  if (headers.has("content-encoding")) {
    throw new AppError("unsupported_media_type", "The body must not be compressed.");
  }
}

/** @throws AppError `malformed_json` */
function orMalformed<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (cause) {
    throw new AppError("malformed_json", "The body is not valid JSON in UTF-8.", { cause });
  }
}

/**
 * Reads the body. If the client sends a length above `maxBytes`, nothing is read.
 * @throws AppError `too_large`
 */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () =>
    new AppError("too_large", `The body is larger than the ${maxBytes} bytes allowed here.`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  // A chunked body has no length in advance: count it.
  let length = 0;
  for await (const chunk of readChunks(request)) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}
