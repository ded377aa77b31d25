import { createReadStream } from "node:fs";
import { openRegular, readWhole } from "../../system/regular-file.ts";
import { type ByteLine, readByteLines } from "../../text/lines.ts";
import { peek } from "../files/source.ts";
import { unpackZstd } from "../files/unpack.ts";

/** Bytes of a line. Longer lines hold output of tools and are skipped. */
export const MAX_TRANSCRIPT_LINE = 16 << 20;
/** Bytes that identify a format. The first message may contain long instructions. */
const HEAD = 1 << 18;
/** Bytes of a transcript that must be read as a whole. */
const MAX_WHOLE_BYTES = 64 << 20;

/** The lines of a file from an offset on. Reads lazily. */
export function readLines(path: string, from: number): AsyncGenerator<ByteLine> {
  return readByteLines(readChunks(path, from), MAX_TRANSCRIPT_LINE, from);
}

/** Whether a transcript is compressed, as Codex does with old ones. Offsets are those of the text. */
export function isCompressed(path: string): boolean {
  return path.endsWith(".zst");
}

export async function readHead(path: string): Promise<string> {
  if (isCompressed(path)) {
    const { head, close } = await peek(await unpack(path), () => {});
    await close();
    return Buffer.from(head.subarray(0, HEAD)).toString();
  }
  const file = await openRegular(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(HEAD) });
    return new TextDecoder().decode(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

async function* readChunks(path: string, from: number): AsyncGenerator<Buffer> {
  if (!isCompressed(path)) return yield* createReadStream(path, { start: from });
  let before = from;
  for await (const piece of await unpack(path)) {
    if (before < piece.length) yield Buffer.from(piece.subarray(before));
    before = Math.max(0, before - piece.length);
  }
}

async function unpack(path: string): Promise<AsyncGenerator<Uint8Array>> {
  return unpackZstd(new Uint8Array(await readWholeTranscript(path)), path);
}

/** All of a file. @throws as `openRegular`, or Error when it is too long */
export async function readWholeTranscript(path: string): Promise<Buffer> {
  const bytes = await readWhole(path, MAX_WHOLE_BYTES);
  if (bytes) return bytes;
  throw new Error(`The transcript has more than ${MAX_WHOLE_BYTES} bytes.`);
}
