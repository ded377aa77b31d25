import { CtxdError } from "../../errors.ts";
import { readByteLines } from "../../text/lines.ts";
import { type JsonObject, parseObject } from "../../text/parse-json.ts";

/** Where bytes come from: a file on disk, in an archive or in an upload, or standard input. */
export interface FileOrigin {
  /** Its name in locations; empty when it is the only one. */
  name: string;
  /** Its file name, which may show its kind and subject. Default: `name`. */
  fileName?: string;
  /** Only of a file on disk. */
  path?: string;
  /** Time of the last change, in milliseconds since 1970; null when unknown. */
  modifiedAt: number | null;
}

/** Text from a file or from standard input. It is read once and lazily. */
export interface TextSource extends FileOrigin {
  head: string;
  /** The text in UTF-8, converted if necessary, without a byte order mark. */
  bytes: AsyncGenerator<Uint8Array>;
}

/** A source can't be read. `problem` is the end of a sentence that begins with the source's name, `source`. */
export class SourceError extends CtxdError {
  readonly code = "source_unreadable";
  readonly source: string;
  readonly problem: string;

  constructor(source: string, problem: string, options?: ErrorOptions) {
    super(`${source || "This file"} ${problem}.`, options);
    this.source = source;
    this.problem = problem;
  }
}

/** Bytes at the beginning of a file that identify its format. */
export const HEAD_BYTES = 1 << 18;

/** The beginning of a file, and all its bytes. */
export interface OpenedFile {
  head: Uint8Array;
  /** Includes the head. */
  bytes: AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

/** Reads the first bytes of a stream. @param onRead receives the number of bytes of each chunk */
export async function peek(
  stream: AsyncIterable<Uint8Array>,
  onRead: (bytes: number) => void,
): Promise<OpenedFile> {
  const chunks = stream[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await chunks.next();
    if (done) return null;
    onRead(value.length);
    return value;
  };
  let head: Uint8Array = new Uint8Array();
  while (head.length < HEAD_BYTES) {
    const chunk = await next();
    if (!chunk) break;
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
  }
  const close = async () => void (await chunks.return?.());
  const all = async function* () {
    try {
      yield head;
      for (let chunk = await next(); chunk; chunk = await next()) yield chunk;
    } finally {
      await close();
    }
  };
  return { head, bytes: all(), close };
}

/** The same bytes in pieces of at most `size` bytes. An upload may come as one piece. */
export async function* inSlices(
  chunks: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += size) {
      yield chunk.subarray(start, start + size);
    }
  }
}

/** @throws SourceError when the file is not text */
export function openText(
  { head, bytes }: Pick<OpenedFile, "head" | "bytes">,
  { name, modifiedAt }: Pick<FileOrigin, "name" | "modifiedAt">,
): TextSource {
  const encoding = encodingOf(head, name);
  return {
    name,
    head: new TextDecoder(encoding).decode(head, { stream: true }),
    bytes: encoding === "utf-8" ? withoutMark(bytes) : toUtf8(bytes, encoding),
    modifiedAt,
  };
}

type Encoding = "utf-8" | "utf-16le" | "utf-16be";

function encodingOf(head: Uint8Array, name: string): Encoding {
  const startsWith = (...bytes: number[]) => bytes.every((byte, index) => head[index] === byte);
  if (startsWith(0xff, 0xfe)) return "utf-16le";
  if (startsWith(0xfe, 0xff)) return "utf-16be";
  if (startsWith(0x1f, 0x8b) || startsWith(0x50, 0x4b)) {
    throw new SourceError(name, "is compressed: unpack it first");
  }
  // UTF-16 without a byte order mark has a zero in most pairs of bytes. Other text has no zeros.
  const zeros = [0, 0];
  for (const [index, byte] of head.entries()) {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  }
  const [even = 0, odd = 0] = zeros;
  if (even + odd === 0) return "utf-8";
  if (odd > head.length / 4 && even < odd / 8) return "utf-16le";
  if (even > head.length / 4 && odd < even / 8) return "utf-16be";
  throw new SourceError(name, "is binary, not text");
}

async function* withoutMark(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of chunks) {
    const hasMark = isFirst && Buffer.from(chunk.subarray(0, 3)).toString("hex") === "efbbbf";
    yield hasMark ? chunk.subarray(3) : chunk;
    isFirst = false;
  }
}

async function* toUtf8(
  chunks: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  yield Buffer.from(decoder.decode());
}

type TextLine = { number: number } & ({ text: string } | { problem: string });

/** The lines of a source without their line breaks, empty lines included. */
export async function* readTextLines(
  { bytes }: TextSource,
  maxBytes: number,
): AsyncGenerator<TextLine> {
  let number = 0;
  for await (const line of readByteLines(bytes, maxBytes)) {
    number++;
    const text = line.bytes && decode(line.bytes);
    if (text !== null) yield { number, text: text.replace(/\r$/, "") };
    else if (line.bytes) yield { number, problem: "is not text in UTF-8" };
    else yield { number, problem: `is longer than ${maxBytes} bytes` };
  }
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Describes a location to people: the name of the source, if it has one, and the place in it. */
export function locationIn({ name }: Pick<FileOrigin, "name">, place: string): string {
  return name === "" ? place : `${name}, ${place}`;
}

/** Limit of unpacked to packed bytes. Text is compressed to a twentieth at best. */
const MAX_RATIO = 200;
/** Unpacked bytes that are always allowed. */
const MIN_UNPACKED_BYTES = 1 << 20;

/** The most bytes that a compressed file may unpack to: a few kilobytes can be made to unpack to any size. */
export function maxUnpacked(packedBytes: number): number {
  return MIN_UNPACKED_BYTES + MAX_RATIO * packedBytes;
}

/**
 * Unpacks Zstandard piece by piece (RFC 8878).
 * @param name for error messages
 * @throws SourceError when the file is damaged or unpacks to too many bytes
 */
export async function* unpackZstd(
  packed: Uint8Array<ArrayBuffer>,
  name: string,
): AsyncGenerator<Uint8Array> {
  const pieces = new Blob([packed]).stream().pipeThrough(new DecompressionStream("zstd"));
  let left = maxUnpacked(packed.length);
  try {
    for await (const piece of pieces) {
      left -= piece.length;
      if (left < 0) throw new SourceError(name, "unpacks to too many bytes");
      yield piece;
    }
  } catch (cause) {
    if (cause instanceof SourceError) throw cause;
    throw new SourceError(name, "is damaged", { cause });
  }
}

/** Lines that identify a format. Several, since the first ones may be damaged. */
const MAX_HEAD_LINES = 20;

/** The objects in the first lines of a text. */
export function objectsOf(head: string): JsonObject[] {
  const lines = head.split("\n", MAX_HEAD_LINES);
  return lines.map(parseObject).filter((object) => object !== null);
}
