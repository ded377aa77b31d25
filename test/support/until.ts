/** Milliseconds that something may take on a busy machine. */
const PATIENCE = 60_000;

/** Waits for a value that is neither null nor false. @param what is told when it does not come */
export async function until<Value>(
  what: string,
  look: () => Value | null | false | Promise<Value | null | false>,
): Promise<Value> {
  for (const end = performance.now() + PATIENCE; ; await Bun.sleep(10)) {
    const value = await look();
    if (value !== null && value !== false) return value;
    if (performance.now() > end) throw new Error(`not within ${PATIENCE / 1_000} s: ${what}`);
  }
}
