import { type FileHandle, open } from "node:fs/promises";
import { createDigester, type FileDigest } from "../system/file-digest.ts";
import { ObjectStoreError, OTHER_CONTENT } from "./object-store-error.ts";

/** Bytes of the longest text that is read: a page of a thousand keys has some hundred thousand. */
const MAX_TEXT_BYTES = 8 << 20;

/** How a body is read. */
interface Reading {
  /** Names the call in errors. */
  what: string;
  /** Called with the number of bytes that have arrived. */
  alive?: (bytes: number) => void;
}

/** Reads a short text. @throws ObjectStoreError when it is too long */
export async function readText(answer: Response, reading: Reading): Promise<string> {
  const chunks = await Array.fromAsync(chunksOf(answer, MAX_TEXT_BYTES, reading));
  return Buffer.concat(chunks).toString();
}

/**
 * Writes a body to a file while it arrives.
 * @param expected what was stored; null if nobody has recorded it
 * @throws ObjectStoreError when the body is incomplete or has other content; errors of the disk
 */
export async function saveBody(
  answer: Response,
  { path, expected, ...reading }: Reading & { path: string; expected: FileDigest | null },
): Promise<void> {
  const length = answer.headers.get("content-length");
  const bytes = expected?.bytes ?? (length === null ? null : Number(length));
  // Without a length, nothing tells whether the body is complete, or whether it ever ends.
  if (bytes === null) throw new ObjectStoreError("NoLength", { what: reading.what, status: 200 });
  const digester = createDigester();
  // "w" truncates the file of an earlier attempt.
  await using handle = await open(path, "w");
  for await (const chunk of chunksOf(answer, bytes, reading)) {
    digester.add(chunk);
    await handle.writeFile(chunk);
  }
  const written = digester.digest();
  if (expected && written.sha256 !== expected.sha256) throw otherContent(reading.what);
  if (written.bytes < bytes) throw new ObjectStoreError("IncompleteBody", { what: reading.what });
}

/** The content of a local file. */
export async function digestOf(handle: FileHandle): Promise<FileDigest> {
  const digester = createDigester();
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) {
    digester.add(chunk);
  }
  return digester.digest();
}

/** The error when an object is not what was stored. */
export function otherContent(what: string): ObjectStoreError {
  return new ObjectStoreError(OTHER_CONTENT, { what, status: 200 });
}

/** The chunks of a body. @throws ObjectStoreError when it has more bytes than the limit */
async function* chunksOf(
  { body }: Response,
  limit: number,
  { what, alive }: Reading,
): AsyncGenerator<Uint8Array> {
  if (!body) return;
  let bytes = 0;
  for await (const chunk of body) {
    alive?.(chunk.byteLength);
    bytes += chunk.byteLength;
    if (bytes > limit) throw otherContent(what);
    yield chunk;
  }
}
