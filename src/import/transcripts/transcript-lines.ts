import { createReadStream } from "node:fs";
import { openRegular, readWhole } from "../../system/regular-file.ts";
import { peek } from "../files/source.ts";
import { unpackZstd } from "../files/unpack.ts";

/** Bytes of a line. Longer lines hold output of tools and are skipped. */
export const MAX_TRANSCRIPT_LINE = 16 << 20;
/** Bytes that identify a format. The first message may contain long instructions. */
const HEAD = 1 << 18;
/** Bytes of a transcript that must be read as a whole. */
const MAX_WHOLE_BYTES = 64 << 20;
const LINE_BREAK = 10;

/** A line of a transcript. */
interface Line {
  /** The line with its line break; null when it is too long. */
  bytes: Buffer | null;
  start: number;
  end: number;
  /** Whether the line has its line break. The agent may still be writing the last line. */
  isEnded: boolean;
}

/** The lines of a file from an offset on, with their offsets. Reads lazily. */
export async function* readLines(path: string, from: number): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let [start, end] = [from, from];
  const add = (part: Buffer) => {
    end += part.length;
    if (end - start > MAX_TRANSCRIPT_LINE) parts = [];
    else parts.push(part);
  };
  const take = (isEnded: boolean): Line => {
    const bytes = end - start > MAX_TRANSCRIPT_LINE ? null : Buffer.concat(parts);
    const line = { bytes, start, end, isEnded };
    parts = [];
    start = end;
    return line;
  };
  for await (const chunk of readChunks(path, from)) {
    let at = 0;
    for (let stop = chunk.indexOf(LINE_BREAK); stop >= 0; stop = chunk.indexOf(LINE_BREAK, at)) {
      add(chunk.subarray(at, stop + 1));
      yield take(true);
      at = stop + 1;
    }
    if (at < chunk.length) add(chunk.subarray(at));
  }
  if (end > start) yield take(false);
}

/** Whether a transcript is compressed, as Codex does with old ones. Offsets are those of the text. */
export function isCompressed(path: string): boolean {
  return path.endsWith(".zst");
}

/** The beginning of a file. */
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
  return unpackZstd(new Uint8Array(await readTranscript(path)), path);
}

/** All of a file. @throws as `openRegular`, or Error when it is too long */
export async function readTranscript(path: string): Promise<Buffer> {
  const bytes = await readWhole(path, MAX_WHOLE_BYTES);
  if (bytes) return bytes;
  throw new Error(`The transcript has more than ${MAX_WHOLE_BYTES} bytes.`);
}
