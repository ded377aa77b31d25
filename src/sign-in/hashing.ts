import { AppError } from "../errors.ts";

/** Hashing a password takes 64 MiB and a core: so many at once, the others wait. */
const HASHES_AT_ONCE = 2;
/** In each line. */
const MAX_WAITING = 50;

/** The two lines that people wait in: browsers that have signed in before have one of their own. */
type Line = "known" | "anyone";

/**
 * Runs what hashes a password when its turn has come.
 * @param line to wait in; `anyone` by default
 * @throws AppError `rate_limited` when too many wait in that line already
 */
export type Hashing = <T>(task: () => Promise<T>, line?: Line) => Promise<T>;

/** One place for all who hash. The two lines take turns: a crowd in one does not stop the other. */
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
      // The place goes to who waits longest.
      const release = next();
      if (release) release();
      else running--;
    }
  };
}
