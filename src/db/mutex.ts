/** Milliseconds that a task waits by default. A longer wait means a bug: a transaction that waits for itself. */
const TIMEOUT_MS = 30_000;

/**
 * Lets one task at a time use a connection. Other tasks wait in the order of their calls. Without a running
 * task nothing waits.
 * @param timeoutMs milliseconds that a task waits before it fails
 */
export function createMutex(timeoutMs = TIMEOUT_MS) {
  let isHeld = false;
  const waiting: (() => void)[] = [];

  const startNext = () => {
    while (!isHeld) {
      const next = waiting.shift();
      if (!next) return;
      next();
    }
  };

  /** Starts a task when the mutex is free and all earlier tasks have started. */
  const enqueue = <Result>(start: () => Result | Promise<Result>): Promise<Result> =>
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
      }, timeoutMs);
      waiting.push(turn);
    });

  const hold = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    isHeld = true;
    try {
      return await task();
    } finally {
      isHeld = false;
      startNext();
    }
  };

  return {
    /** Runs a synchronous task when the mutex is free: if it is free now, before this returns. */
    whenFree: <Result>(task: () => Result): Result | Promise<Result> =>
      isHeld ? enqueue(task) : task(),

    /** Runs a task that holds the mutex until it ends. */
    hold: <Result>(task: () => Promise<Result>): Promise<Result> =>
      isHeld ? enqueue(() => hold(task)) : hold(task),
  };
}
