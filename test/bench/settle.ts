import { join } from "node:path";
import { fingerprint } from "./footprint.ts";
import { metricOf } from "./server-metrics.ts";

const LOOK_EVERY = 500;
/** Seconds of processor time between two looks that tell of work. */
const BUSY = 0.15;
/** Longer than the pause after which upkeep does what is left. */
const QUIET = 12_000;
/** Upkeep rests in proportion to how long a chore took: shorter pauses mean nothing. */
const RESTS = { flush: 5, optimize: 10 };
const PATIENCE = 20 * 60_000;
/** Longer than the time between the ends of two steps of comparing. */
const COMPARING_PAUSE = 3_000;
/** How long it waits for memories to be compared with each other: for many, that takes an hour, beside which people search. */
const COMPARING_PATIENCE = 6 * 60_000;

/**
 * Waits until a server that gets no requests has finished its upkeep: nothing has changed in its
 * tables, it has done no chore and next to nothing else for longer than it ever pauses. After some minutes, comparing may go on.
 * @param metrics asks the server for them
 */
export async function settle(dataDir: string, metrics: () => Promise<string>): Promise<void> {
  const started = performance.now();
  let before = await look(dataDir, await metrics());
  let quietSince = started;
  let comparedAt = 0;
  let rest = 0;
  for (;;) {
    await Bun.sleep(LOOK_EVERY);
    const now = performance.now();
    const state = await look(dataDir, await metrics());
    if (state.rests > before.rests) rest = state.rests - before.rests;
    if (state.compared !== before.compared) comparedAt = now;
    const isComparing = now - comparedAt < COMPARING_PAUSE;
    const isAwaited = !isComparing || now - started < COMPARING_PATIENCE;
    const isBusy = isAwaited && state.seconds - before.seconds > BUSY;
    if (isBusy || state.rests > before.rests || state.files !== before.files) quietSince = now;
    before = state;
    if (now - quietSince > QUIET + rest) return;
    if (now - started > PATIENCE) throw new Error("the server's upkeep does not come to rest");
  }
}

async function look(dataDir: string, metrics: string) {
  const rests = Object.entries(RESTS).map(([chore, factor]) => {
    const spent = metricOf(metrics, `ctxd_upkeep_duration_seconds_sum{chore="${chore}"}`) ?? 0;
    return factor * spent * 1_000;
  });
  return {
    files: await fingerprint(join(dataDir, "memories")),
    compared: metricOf(metrics, 'ctxd_upkeep_duration_seconds_count{chore="compare"}'),
    /** Milliseconds of rest that all chores so far come to. */
    rests: rests.reduce((sum, rest) => sum + rest, 0),
    /** Of processor time. */
    seconds: metricOf(metrics, "process_cpu_seconds_total") ?? 0,
  };
}
