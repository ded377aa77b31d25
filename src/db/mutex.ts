/** How long somebody waits for a turn before that is taken for a mistake in the program, in milliseconds. */
const MOST = 30_000;

export type Gate = ReturnType<typeof createMutex>;

/**
 * Lets one task at a time use a connection. Whoever comes meanwhile waits, in the order of coming;
 * where nobody is, nobody waits.
 * @param most milliseconds that a task waits before it fails
 */
export function createMutex(most = MOST) {
  let isHeld = false;
  const waiting: (() => void)[] = [];

  const goOn = () => {
    while (!isHeld) {
      const next = waiting.shift();
      if (!next) return;
      next();
    }
  };

  /** Starts something now, or as soon as nobody holds the turn. */
  const whenFree = <Result>(start: () => Result | Promise<Result>): Promise<Result> =>
    new Promise((resolve, reject) => {
      const turn = () => {
        clearTimeout(timer);
        try {
          resolve(start());
        } catch (error) {
          reject(error);
        }
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(turn), 1);
        reject(new Error("The transaction before this statement does not end."));
      }, most);
      waiting.push(turn);
    });

  const hold = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    isHeld = true;
    try {
      return await task();
    } finally {
      isHeld = false;
      goOn();
    }
  };

  return {
    /** Runs what ends at once; when nobody holds the turn, before this returns. */
    pass: <Result>(task: () => Result): Result | Promise<Result> =>
      isHeld ? whenFree(task) : task(),

    /** Runs a task during which nobody else has a turn. */
    hold: <Result>(task: () => Promise<Result>): Promise<Result> =>
      isHeld ? whenFree(() => hold(task)) : hold(task),
  };
}
