import { edenGC } from "bun:jsc";

/**
 * Closed tables after which all garbage is collected, and those after which young garbage is, in some 5 ms.
 * Most garbage of a closed table is young. Without this, JavaScriptCore lets garbage grow to the size of all
 * live data: 200 MB more when 1,000 accounts take turns.
 */
const TABLES_PER_COLLECTION = 32;
const TABLES_PER_YOUNG_COLLECTION = 4;
/** Pause after a collection of all garbage, in multiples of its duration. */
const REST_FACTOR = 15;

/** Returns a function that is called after each closed table and sometimes collects garbage. */
export function createGarbageCollection(): () => void {
  let uncollected = 0;
  let restUntil = 0;
  return () => {
    const started = performance.now();
    uncollected++;
    if (uncollected < TABLES_PER_COLLECTION || started < restUntil) {
      if (uncollected % TABLES_PER_YOUNG_COLLECTION === 0) edenGC();
      return;
    }
    uncollected = 0;
    Bun.gc(true);
    restUntil = started + (1 + REST_FACTOR) * (performance.now() - started);
  };
}
