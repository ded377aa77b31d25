const LINE_BREAK = 10;

/** Stands for a skipped line that was longer than allowed. */
export const TOO_LONG = Symbol("too long");

/**
 * The lines of a UTF-8 stream, read lazily. The last line needs no line break.
 * @param maxBytes of a line, which bounds the memory that is used
 */
export async function* readLines(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string | typeof TOO_LONG> {
  for await (const { bytes } of readByteLines(stream, maxBytes)) {
    yield bytes === null ? TOO_LONG : bytes.toString().replace(/\r$/, "");
  }
}

export interface ByteLine {
  /** Without its line break, but with a carriage return before it; null when it is too long. */
  bytes: Buffer | null;
  /** Offsets of its first byte and of that of the next line. */
  start: number;
  end: number;
  /** Whether a line break ends it, rather than the end of the stream. */
  isEnded: boolean;
}

/**
 * The same lines as bytes, for callers that check the encoding or need offsets.
 * @param from the offset of the stream's first byte
 */
export async function* readByteLines(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
  from = 0,
): AsyncGenerator<ByteLine> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let start = from;

  const add = (part: Uint8Array) => {
    length += part.length;
    // The bytes of a line that is too long are counted, but not kept.
    if (length > maxBytes) parts = [];
    else parts.push(part);
  };
  const take = (isEnded: boolean): ByteLine => {
    const bytes = length > maxBytes ? null : Buffer.concat(parts);
    const line = { bytes, start, end: start + length + Number(isEnded), isEnded };
    parts = [];
    length = 0;
    start = line.end;
    return line;
  };

  for await (const chunk of stream) {
    let at = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, at)) {
      add(chunk.subarray(at, end));
      yield take(true);
      at = end + 1;
    }
    // Copies the bytes, since the stream may reuse the chunk's memory.
    if (at < chunk.length) add(new Uint8Array(chunk.subarray(at)));
  }
  if (length > 0) yield take(false);
}
