/** Milliseconds that a condition may take on a busy machine. */
const TIMEOUT_MS = 60_000;

/**
 * Waits until a check returns a value that is neither null nor false, and returns that value.
 * @param what describes the condition in the error after the time limit
 * @param pause milliseconds between two checks
 */
export async function until<Value>(
  what: string,
  check: () => Value | null | false | Promise<Value | null | false>,
  pause = 10,
): Promise<Value> {
  for (const end = performance.now() + TIMEOUT_MS; ; await Bun.sleep(pause)) {
    const value = await check();
    if (value !== null && value !== false) return value;
    if (performance.now() > end) throw new Error(`not within ${TIMEOUT_MS / 1_000} s: ${what}`);
  }
}
