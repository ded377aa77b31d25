/** Milliseconds of work between two pauses. */
const WORK_MS = 4;

/**
 * Creates a function whose promises resolve one in each turn of the event loop, in the order of the calls. Between two of
 * them other events are handled, such as requests that have arrived.
 */
export function createTurnstile(): () => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let isOpen = true;
  const next = () => {
    const pass = waiting.shift();
    pass?.();
    if (pass) setImmediate(next);
    else isOpen = true;
  };
  return () => {
    if (!isOpen) return new Promise((resolve) => waiting.push(resolve));
    isOpen = false;
    setImmediate(next);
    return undefined;
  };
}

const nextWork = createTurnstile();

/**
 * Creates the function that long work calls and awaits between its steps. When the work has occupied
 * the main thread for a while, the function lets other tasks run; otherwise it costs almost nothing. Of several
 * long works one goes on in each turn of the event loop, so that others wait no longer for many than for one.
 */
export function createPause(): () => Promise<void> | undefined {
  let started = performance.now();
  return () => {
    if (performance.now() - started < WORK_MS) return undefined;
    return new Promise((resolve) =>
      setImmediate(async () => {
        await nextWork();
        started = performance.now();
        resolve();
      }),
    );
  };
}
