import type { Static, TSchema } from "@sinclair/typebox";
import { AppError } from "../errors.ts";
import { readChunks } from "./body-chunks.ts";
import { createCheck } from "./validation.ts";

/**
 * Makes a reader of JSON bodies of one shape. It checks the shape itself, before the framework
 * does: that merges defaults into a body first, by which a `__proto__` field would pass for
 * inherited ones, and repeats a refused body in an error whose size grows with the square of the
 * body's depth.
 * @param maxBytes what is longer is refused, before it is read where the client says its length
 * @throws AppError `unsupported_media_type`, `too_large`, `malformed_json` or `validation_failed`
 */
export function createBodyReader<Schema extends TSchema>(
  schema: Schema,
  maxBytes: number,
): (request: Request) => Promise<Static<Schema>> {
  const check = createCheck(schema);
  return async (request) => check(await readJson(request, maxBytes));
}

async function readJson(request: Request, maxBytes: number): Promise<unknown> {
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
  const bytes = await readBytes(request, maxBytes);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AppError("malformed_json", "The body is not valid JSON in UTF-8.", { cause });
  }
}

/**
 * The body as it is. What is longer than `maxBytes` is refused, before it is read where the client
 * says its length.
 * @throws AppError `too_large`
 */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () =>
    new AppError("too_large", `The body is larger than the ${maxBytes} bytes allowed here.`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  // A chunked body does not say its length: count it as it comes.
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of readChunks(request)) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}
