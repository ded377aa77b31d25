const LINE_BREAK = 10;

/** A line that was longer than allowed; it has been skipped. */
export const TOO_LONG = Symbol("too long");

/**
 * The lines of a stream in UTF-8, read as they are asked for. The last one needs no line break.
 * @param maxBytes of a line; memory stays bounded whatever comes
 */
export async function* readLines(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string | typeof TOO_LONG> {
  for await (const line of readByteLines(stream, maxBytes)) {
    yield line === TOO_LONG ? line : line.toString().replace(/\r$/, "");
  }
}

/** The same as bytes, for who must know whether they are UTF-8; a carriage return is left in. */
export async function* readByteLines(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Buffer | typeof TOO_LONG> {
  let parts: Uint8Array[] = [];
  let length = 0;

  const add = (part: Uint8Array) => {
    length += part.length;
    // What is too long is counted, not kept.
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
    // A copy: the chunk's memory may be used again.
    if (start < chunk.length) add(chunk.slice(start));
  }
  if (length > 0) yield take();
}
