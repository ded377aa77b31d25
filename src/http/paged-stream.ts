/** Bytes of a body that are sent together. */
const PART = 64 << 10;

/**
 * The parts of a long text. A stream that has taken a part asks for the next one only when the client reads. So who
 * creates the parts knows how far the client has read.
 */
export function* partsOf(body: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < body.length; start += PART) yield body.subarray(start, start + PART);
}

/**
 * A body that is created page by page, as fast as the client reads it. A client that reads nothing for
 * `patience` milliseconds is disconnected, so that it does not hold the resources of a page forever.
 */
export function createPagedStream<Page>(
  pages: AsyncGenerator<Page, void>,
  encode: (page: Page) => Uint8Array,
  patience = 300_000,
): ReadableStream<Uint8Array> {
  let giveUp: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream({
    // Called only when there is room.
    async pull(controller) {
      clearTimeout(giveUp);
      const { value, done } = await pages.next();
      if (done) return controller.close();
      controller.enqueue(encode(value));
      giveUp = setTimeout(() => {
        void pages.return();
        controller.error(new Error("the client does not read"));
      }, patience);
    },
    async cancel() {
      clearTimeout(giveUp);
      await pages.return();
    },
  });
}
