import { createReadStream } from "node:fs";
import { open, readFile } from "node:fs/promises";

/** Bytes of a line: more is what a tool put out. */
const MAX_LINE = 16 << 20;
/** Bytes that tell what a file is: the first message alone may have instructions of many pages. */
const HEAD = 1 << 18;
const LINE_BREAK = 10;

/** A line of a transcript. */
export interface Line {
  /** Without its end; null for one that is too long. */
  bytes: Buffer | null;
  start: number;
  end: number;
  /** Whether it has an end: the last one may still be written. */
  isEnded: boolean;
}

/** The lines of a file after a place, with where they are. Reads as it is asked. */
export async function* readLines(path: string, from: number): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let [start, end] = [from, from];
  const add = (part: Buffer) => {
    end += part.length;
    if (end - start > MAX_LINE) parts = [];
    else parts.push(part);
  };
  const take = (isEnded: boolean): Line => {
    const bytes = end - start > MAX_LINE ? null : Buffer.concat(parts);
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

/** Whether a transcript is compressed, as Codex does with old ones. Places in it are those of its text. */
export function isCompressed(path: string): boolean {
  return path.endsWith(".zst");
}

/** The beginning of a file. */
export async function readHead(path: string): Promise<string> {
  if (isCompressed(path)) return (await unpack(path)).subarray(0, HEAD).toString();
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(HEAD) });
    return new TextDecoder().decode(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

async function* readChunks(path: string, from: number): AsyncGenerator<Buffer> {
  if (isCompressed(path)) yield (await unpack(path)).subarray(from);
  else yield* createReadStream(path, { start: from });
}

async function unpack(path: string): Promise<Buffer> {
  return Bun.zstdDecompress(await readFile(path));
}
