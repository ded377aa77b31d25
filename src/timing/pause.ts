/** Milliseconds of work between two pauses. */
const WORK_MS = 4;

/**
 * Creates the function that long work calls and awaits between its steps. When the work has occupied
 * the main thread for a while, the function lets other tasks run; otherwise it costs almost nothing.
 */
export function createPause(): () => Promise<void> | undefined {
  let started = performance.now();
  return () => {
    if (performance.now() - started < WORK_MS) return undefined;
    return new Promise((resolve) =>
      setImmediate(() => {
        started = performance.now();
        resolve();
      }),
    );
  };
}
