import type { Base } from "./base.ts";

/** The base of a table. A flush replaces it while reads of the former base finish. */
export type HeldBase = ReturnType<typeof holdBase>;

export function holdBase(first: Base | null) {
  let current = first;
  let readers = new Set<Promise<unknown>>();

  return {
    get current() {
      return current;
    },

    /** Reads the base, which stays open meanwhile. Returns `absent` when there is no base. */
    async read<Result>(task: (base: Base) => Promise<Result>, absent: Result): Promise<Result> {
      if (!current) return absent;
      const ofThisBase = readers;
      const reading = task(current);
      const ended = reading.then(
        () => {},
        () => {},
      );
      ofThisBase.add(ended);
      void ended.then(() => ofThisBase.delete(ended));
      return await reading;
    },

    /** Reads batches of the base, which stays open until all have been read. */
    async *stream<Batch>(task: (base: Base) => AsyncIterable<Batch>): AsyncGenerator<Batch> {
      if (!current) return;
      const ofThisBase = readers;
      const reading = Promise.withResolvers<void>();
      ofThisBase.add(reading.promise);
      try {
        yield* task(current);
      } finally {
        ofThisBase.delete(reading.promise);
        reading.resolve();
      }
    },

    /** Replaces the base. Resolves when no read uses the former one. */
    async replace(next: Base | null): Promise<void> {
      const [former, ofFormer] = [current, readers];
      [current, readers] = [next, new Set()];
      await Promise.all(ofFormer);
      if (former !== next) former?.close();
    },
  };
}
