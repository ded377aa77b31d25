import type { WithDeadline } from "./send.ts";

const LINE_FEED = 10;

/**
 * The lines of a text that arrives in pieces, without line breaks. Holds one line at a time.
 * @param maxBytes the bytes of a line that are kept; the rest is dropped
 */
export async function* readLines(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let held: Uint8Array<ArrayBuffer>[] = [];
  let room = maxBytes;
  const hold = (bytes: Uint8Array) => {
    // Copies the bytes, since the source may reuse the memory of the piece.
    const kept = new Uint8Array(bytes.subarray(0, room));
    if (kept.length > 0) held.push(kept);
    room -= kept.length;
  };
  const take = () => {
    const line = held.length === 1 && held[0] ? held[0] : joinBytes(held);
    [held, room] = [[], maxBytes];
    return line;
  };
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      hold(piece.subarray(start, end));
      start = end + 1;
      yield take();
    }
    hold(piece.subarray(start));
  }
  if (held.length > 0) yield take();
}

export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let length = 0;
  for (const piece of pieces) {
    joined.set(piece, length);
    length += piece.length;
  }
  return joined;
}

/**
 * The pieces of a stream, for runtimes whose streams are not iterable. The stream is cancelled when the
 * loop ends.
 * @param withDeadline limits the time to wait for each piece
 */
export async function* readPieces<Piece>(
  stream: ReadableStream<Piece>,
  withDeadline: WithDeadline = (next) => next(),
): AsyncGenerator<Piece> {
  const reader = stream.getReader();
  try {
    while (true) {
      const { value, done } = await withDeadline(() => reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // Not awaited, and errors are ignored: cancelling a failed stream fails too.
    reader.cancel().catch(() => {});
  }
}
