import { AppError } from "../../errors.ts";
import type { Base } from "./base.ts";

/**
 * A base whose local files may be lost while it is open. If a read fails, the files are restored and the read is
 * tried once more.
 * @param restore restores the files; the reader receives its errors
 */
export function createRestoringBase(base: Base, restore: () => Promise<void>): Base {
  const twice =
    <Args extends unknown[], Result>(read: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        return await read(...args);
      } catch {
        await restore();
        return await read(...args);
      }
    };

  const streamTwice = <Args extends unknown[], Batch>(
    read: (...args: Args) => AsyncGenerator<Batch>,
  ) =>
    async function* (...args: Args): AsyncGenerator<Batch> {
      let hasBegun = false;
      try {
        for await (const batch of read(...args)) {
          hasBegun = true;
          yield batch;
        }
        return;
      } catch (cause) {
        await restore();
        // The reader already has some batches, so it must begin again.
        if (hasBegun) {
          const message = "The memories can't be read now. Try again in a moment.";
          throw new AppError("unavailable", message, { cause, retryAfter: 1 });
        }
      }
      yield* read(...args);
    };

  return {
    model: base.model,
    isUpToDate: base.isUpToDate,
    get checkpoint() {
      return base.checkpoint;
    },
    get rows() {
      return base.rows;
    },
    get isIndexed() {
      return base.isIndexed;
    },
    find: twice(base.find),
    load: twice(base.load),
    states: twice(base.states),
    read: streamTwice(base.read),
    scan: streamTwice(base.scan),
    expiring: twice(base.expiring),
    list: twice(base.list),
    search: twice(base.search),
    ofSessions: twice(base.ofSessions),
    countTexts: twice(base.countTexts),
    count: twice(base.count),
    nearWords: twice(base.nearWords),
    close: base.close,
  };
}
