import type { Patience } from "./send.ts";

const LINE_FEED = 10;

/**
 * The lines of a text that comes in pieces, without their ends. Holds one line at a time.
 * @param maxBytes what is kept of a line; the rest of it is dropped
 */
export async function* readLines(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let held: Uint8Array<ArrayBuffer>[] = [];
  let room = maxBytes;
  const hold = (bytes: Uint8Array) => {
    // A copy: whoever made the piece may use its memory again.
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
 * What a stream gives: not everywhere can streams be looped over. It is cancelled when the loop ends.
 * @param patience waits for each piece
 */
export async function* readPieces<Piece>(
  stream: ReadableStream<Piece>,
  patience: Patience = (next) => next(),
): AsyncGenerator<Piece> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await patience(() => reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // Nobody waits for it: a stream that failed can't be cancelled either.
    reader.cancel().catch(() => {});
  }
}
