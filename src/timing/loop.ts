/** A task that runs again and again. */
export interface Loop {
  /** Starts no further run, and resolves when the running one has ended. */
  stop(): Promise<void>;
}

/**
 * Runs a task again and again, each time some milliseconds after the last run has ended.
 * @param task returns these milliseconds. Between its own steps it asks whether the loop has been stopped
 * @param first milliseconds until the first run
 */
export function startLoop(task: (isStopped: () => boolean) => Promise<number>, first = 0): Loop {
  let isStopped = false;
  let wake = () => {};

  // Not a race with a promise for the stop: that promise would keep something of each round.
  const rest = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const run = async () => {
    if (first > 0) await rest(first);
    while (!isStopped) {
      const milliseconds = await task(() => isStopped);
      if (!isStopped) await rest(milliseconds);
    }
  };
  const running = run();

  return {
    async stop() {
      isStopped = true;
      wake();
      await running;
    },
  };
}

/**
 * Work that is put off, and done once at the earliest of the times that were set. No two runs overlap. A time that is set
 * does not keep the process alive.
 */
export function createDelayed(work: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined;
  let due = Number.POSITIVE_INFINITY;
  let running = Promise.resolve();

  const run = (): Promise<void> => {
    clearTimeout(timer);
    due = Number.POSITIVE_INFINITY;
    return work();
  };
  const now = (): Promise<void> => {
    running = running.then(run, run);
    return running;
  };

  return {
    /** Does the work some milliseconds from now at the latest. */
    within(milliseconds: number): void {
      const at = performance.now() + milliseconds;
      if (due <= at) return;
      clearTimeout(timer);
      due = at;
      timer = setTimeout(() => void now(), milliseconds).unref();
    },

    /** Does the work now, after a run that is under way. */
    now,
  };
}

const HOUR = 3_600_000;
/** Milliseconds between two removals, in which requests are answered. */
const PAUSE = 20;

/**
 * Removes what is old or too much, now and every hour.
 * @param prune removes a part, and returns whether there is more
 * @returns a function that stops it
 */
export function startPruning(
  prune: () => Promise<boolean>,
  onError: (error: unknown) => void,
): () => void {
  const loop = startLoop(async () => {
    const isMore = await prune().catch((error) => {
      onError(error);
      return false;
    });
    return isMore ? PAUSE : HOUR;
  });
  return () => void loop.stop();
}

/** Up to a quarter more or less than a time, so that processes that start together do not work together. */
export function spread(milliseconds: number): number {
  return milliseconds * (0.75 + Math.random() / 2);
}
