import { fingerprint } from "./footprint.ts";
import type { ServerProcess } from "./server-process.ts";

const LOOK_EVERY = 500;
/** Longer than the pause after which upkeep does what is left. */
const QUIET = 9_000;
/** After merging, upkeep rests nine times as long as it took: a pause of that length means nothing. */
const REST_FACTOR = 10;
const PATIENCE = 10 * 60_000;

/**
 * Waits until a server that gets no requests has finished its upkeep: nothing has changed in its
 * folder and it has said nothing for longer than it ever pauses.
 */
export async function settle(server: ServerProcess, dataDir: string): Promise<void> {
  const started = performance.now();
  let before = "";
  let quietSince = started;
  for (;;) {
    const now = performance.now();
    const state = await fingerprint(dataDir);
    if (state !== before) quietSince = now;
    before = state;
    const last = server.upkeep.at(-1);
    const lastMerge = server.upkeep.findLast(({ chore }) => chore === "optimize")?.ms ?? 0;
    const wanted = QUIET + REST_FACTOR * lastMerge;
    if (now - Math.max(quietSince, last?.at ?? 0) > wanted) return;
    if (now - started > PATIENCE) throw new Error("the server's upkeep does not come to rest");
    await Bun.sleep(LOOK_EVERY);
  }
}
