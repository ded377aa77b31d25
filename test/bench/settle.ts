import { join } from "node:path";
import { SOCKET } from "../../src/mcp/socket-folder.ts";
import { fingerprint } from "./footprint.ts";

const LOOK_EVERY = 500;
/** Longer than the pause after which upkeep does what is left. */
const QUIET = 9_000;
/** After merging, upkeep rests nine times as long as it took: a pause of that length means nothing. */
const REST_FACTOR = 10;
const PATIENCE = 10 * 60_000;

/**
 * Waits until a server that gets no requests has finished its upkeep: nothing has changed in its
 * folder and it has done no chore for longer than it ever pauses.
 */
export async function settle(dataDir: string): Promise<void> {
  const started = performance.now();
  let before = "";
  let quietSince = started;
  let [merging, lastMerge] = [await timeOfMerging(dataDir), 0];
  for (;;) {
    const now = performance.now();
    const merged = await timeOfMerging(dataDir);
    if (merged > merging) lastMerge = merged - merging;
    merging = merged;
    const state = `${merged} ${await fingerprint(dataDir)}`;
    if (state !== before) quietSince = now;
    before = state;
    if (now - quietSince > QUIET + REST_FACTOR * lastMerge) return;
    if (now - started > PATIENCE) throw new Error("the server's upkeep does not come to rest");
    await Bun.sleep(LOOK_EVERY);
  }
}

const MERGING = /^ctxd_upkeep_duration_seconds_sum\{chore="optimize"\} (\S+)$/m;

/** Milliseconds that a server has spent on merging so far. */
async function timeOfMerging(dataDir: string): Promise<number> {
  const unix = join(dataDir, SOCKET);
  const metrics = await (await fetch("http://localhost/api/metrics", { unix })).text();
  return Number(MERGING.exec(metrics)?.[1] ?? 0) * 1_000;
}
