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
  for await (const line of readByteLines(stream, maxBytes)) {
    yield line === TOO_LONG ? line : line.toString().replace(/\r$/, "");
  }
}

/** The same lines as bytes, for callers that check the encoding. A carriage return stays in the line. */
export async function* readByteLines(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Buffer | typeof TOO_LONG> {
  let parts: Uint8Array[] = [];
  let length = 0;

  const add = (part: Uint8Array) => {
    length += part.length;
    // The bytes of a line that is too long are counted, but not kept.
    if (length > maxBytes) parts = [];
    else parts.push(part);
  };
  const take = () => {
    const line = length > maxBytes ? TOO_LONG : Buffer.concat(parts);
    parts = [];
    length = 0;
    return line;
  };

  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, start)) {
      add(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    // Copies the bytes, since the stream may reuse the chunk's memory.
    if (start < chunk.length) add(chunk.slice(start));
  }
  if (length > 0) yield take();
}
