import { recentLines } from "./recent-log.ts";

/** Milliseconds that a condition may take on a busy machine. */
const TIMEOUT_MS = 60_000;
/** Milliseconds between two checks of what takes a second or longer: many checks cost more than what they wait for. */
const LONGEST_PAUSE_MS = 50;

/**
 * Waits until a check returns a value that is neither null nor false, and returns that value.
 * @param what describes the condition in the error after the time limit
 * @param pause milliseconds between two checks at first
 */
export async function until<Value>(
  what: string,
  check: () => Value | null | false | Promise<Value | null | false>,
  pause = 10,
): Promise<Value> {
  for (const start = performance.now(); ; ) {
    const value = await check();
    if (value !== null && value !== false) return value;
    const waited = performance.now() - start;
    if (waited > TIMEOUT_MS) {
      const said = recentLines().map((line) => `\n  ${line}`);
      throw new Error(`not within ${TIMEOUT_MS / 1_000} s: ${what}${said.join("")}`);
    }
    await Bun.sleep(Math.max(pause, Math.min(LONGEST_PAUSE_MS, waited / 20)));
  }
}
