/** Milliseconds of work after which others have their turn. */
const TURN = 10;

/**
 * Makes what long work awaits between its steps: it lets the main thread do something else when the
 * work has had it for a while, and costs next to nothing otherwise.
 */
export function createPause(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < TURN) return undefined;
    return new Promise((resolve) =>
      setImmediate(() => {
        began = performance.now();
        resolve();
      }),
    );
  };
}
