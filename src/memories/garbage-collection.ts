import { edenGC } from "bun:jsc";

/**
 * Tables that are closed until their garbage is collected: all of it, or in some 5 ms what is young,
 * which is what they were read and written by. Left alone, the engine lets it grow until it is as much
 * as all that is in use: 200 MB more when 1,000 accounts take turns.
 */
const MOST_UNCOLLECTED = 32;
const MOST_YOUNG = 4;
/** It is not collected again for so many times as long as that took. */
const COLLECTION_REST = 15;

/** Makes what collects the garbage of closed tables, now and then; to be called for each of them. */
export function createGarbageCollection(): () => void {
  let uncollected = 0;
  let again = 0;
  return () => {
    const started = performance.now();
    uncollected++;
    if (uncollected < MOST_UNCOLLECTED || started < again) {
      if (uncollected % MOST_YOUNG === 0) edenGC();
      return;
    }
    uncollected = 0;
    Bun.gc(true);
    again = started + (1 + COLLECTION_REST) * (performance.now() - started);
  };
}
