/**
 * A body that is made a page at a time, only as fast as its reader takes it. One who has taken
 * nothing for so long is cut off, so that what a page stands for is not held for ever.
 * @param patience milliseconds
 */
export function createPagedStream<Page>(
  pages: AsyncGenerator<Page, void>,
  encode: (page: Page) => Uint8Array,
  patience = 300_000,
): ReadableStream<Uint8Array> {
  let giveUp: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream({
    // Called when there is room, and not before.
    async pull(controller) {
      clearTimeout(giveUp);
      const { value, done } = await pages.next();
      if (done) return controller.close();
      controller.enqueue(encode(value));
      giveUp = setTimeout(() => {
        void pages.return();
        controller.error(new Error("the reader takes nothing"));
      }, patience);
    },
    async cancel() {
      clearTimeout(giveUp);
      await pages.return();
    },
  });
}
