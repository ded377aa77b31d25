import type { Base } from "./base.ts";

/** The base of a table, which a flush replaces while others read the former one. */
export type HeldBase = ReturnType<typeof holdBase>;

export function holdBase(first: Base | null) {
  let current = first;
  let readers = new Set<Promise<unknown>>();

  return {
    get current() {
      return current;
    },

    /** Reads the base, which stays open meanwhile; `absent` when there is none. */
    async read<Result>(task: (base: Base) => Promise<Result>, absent: Result): Promise<Result> {
      if (!current) return absent;
      const mine = readers;
      const reading = task(current);
      const ended = reading.then(
        () => {},
        () => {},
      );
      mine.add(ended);
      void ended.then(() => mine.delete(ended));
      return await reading;
    },

    /** Reads batches of the base, which stays open until they have all been read. */
    async *stream<Batch>(task: (base: Base) => AsyncIterable<Batch>): AsyncGenerator<Batch> {
      if (!current) return;
      const mine = readers;
      const reading = Promise.withResolvers<void>();
      mine.add(reading.promise);
      try {
        yield* task(current);
      } finally {
        mine.delete(reading.promise);
        reading.resolve();
      }
    },

    /** Puts another base in its place, and resolves when nobody reads the former one any more. */
    async replace(next: Base | null): Promise<void> {
      const [former, theirs] = [current, readers];
      [current, readers] = [next, new Set()];
      await Promise.all(theirs);
      if (former !== next) former?.close();
    },
  };
}
