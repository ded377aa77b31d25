import { AppError } from "../errors.ts";

/** Passwords that are hashed at once. Each takes 64 MiB and one core; others wait. */
const HASHES_AT_ONCE = 2;
/** Waiting tasks per queue. */
const MAX_WAITING = 50;

/** The two queues: browsers that have signed in before have one of their own. */
type Line = "known" | "anyone";

/**
 * Hashes a password when it is its turn.
 * @param line the queue; by default `anyone`
 * @throws AppError `rate_limited` when too many wait in that queue
 */
export type Hashing = <T>(task: () => Promise<T>, line?: Line) => Promise<T>;

/**
 * Limits the hashing of passwords. The two queues take turns: a crowd in one does not block the other.
 */
export function createHashing(): Hashing {
  let running = 0;
  const waiting: Record<Line, (() => void)[]> = { known: [], anyone: [] };
  let turn: Line = "known";

  const next = () => {
    const other = turn === "known" ? "anyone" : "known";
    const chosen = waiting[turn].shift() ?? waiting[other].shift();
    turn = other;
    return chosen;
  };

  return async <T>(task: () => Promise<T>, line: Line = "anyone"): Promise<T> => {
    if (running >= HASHES_AT_ONCE) {
      if (waiting[line].length >= MAX_WAITING) {
        throw new AppError("rate_limited", "Too many people sign in at once. Try again.", {
          retryAfter: 5,
        });
      }
      await new Promise<void>((resolve) => waiting[line].push(resolve));
    } else {
      running++;
    }
    try {
      return await task();
    } finally {
      // The task that waits longest is next.
      const release = next();
      if (release) release();
      else running--;
    }
  };
}
