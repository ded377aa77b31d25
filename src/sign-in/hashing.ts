import { AppError } from "../errors.ts";

/** Hashing a password takes 64 MiB and a core: so many at once, the others wait. */
const HASHES_AT_ONCE = 2;
const MAX_WAITING = 50;

/**
 * Runs what hashes a password when its turn has come.
 * @throws AppError `rate_limited` when too many wait already
 */
export type Hashing = <T>(task: () => Promise<T>) => Promise<T>;

/** One line for all who hash. */
export function createHashing(): Hashing {
  return createQueue(HASHES_AT_ONCE, MAX_WAITING);
}

/** Runs at most `places` tasks at once and lets `maxWaiting` wait; more are refused. */
function createQueue(places: number, maxWaiting: number): Hashing {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (running >= places) {
      if (waiting.length >= maxWaiting) {
        throw new AppError("rate_limited", "Too many people sign in at once. Try again.", {
          retryAfter: 5,
        });
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running++;
    }
    try {
      return await task();
    } finally {
      // The place goes to who waits longest.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
