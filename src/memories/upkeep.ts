import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Chore, Keeper } from "./keeper.ts";

/** How often it is looked what is due, in milliseconds. */
const TICK = 500;
/** Milliseconds that purging a table is taken to last before it was seen; then a moving average. */
const PURGE_TIME = 100;
const RECENT_PURGES = 8;
/** The most urgent first: what can't be read, a promise to forget, durability, then speed. */
const ORDER: readonly Chore[] = ["recover", "purge", "checkpoint", "optimize"];

/**
 * Does the chores of all open tables in the background, one at a time.
 * @param keepers those of the tables that are open now, by name
 * @param afterChore is waited for before the next one
 */
export function startUpkeep({
  keepers,
  afterChore,
  log,
  metrics,
}: {
  keepers: () => Iterable<readonly [name: string, keeper: Keeper]>;
  afterChore: (chore: Chore) => Promise<void>;
  log: Log;
  metrics: Metrics;
}): {
  /** Runs a task between two chores. */
  pause<Result>(task: () => Promise<Result>): Promise<Result>;
  /** Lets the chore under way end, and begins no other. */
  stop(): Promise<void>;
} {
  const runs = metrics.counter("ctxd_upkeep_runs_total", "Chores done on tables.", [
    "chore",
    "result",
  ]);
  const durations = metrics.durations("ctxd_upkeep_duration_seconds", "Time of a chore.", [
    "chore",
  ]);
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let round: Promise<void> = Promise.resolve();
  let last: Promise<unknown> = Promise.resolve();
  let purgeTime = PURGE_TIME;

  const pause = <Result>(task: () => Promise<Result>): Promise<Result> => {
    const result = last.then(task);
    last = result.catch(() => {});
    return result;
  };

  const next = () => {
    const all = [...keepers()];
    const ahead = purgeTime * all.filter(([, keeper]) => keeper.hasRemains()).length;
    const due = all.map(([name, keeper]) => ({ name, keeper, chore: keeper.due(ahead) }));
    return ORDER.map((chore) => due.find((candidate) => candidate.chore === chore)).find(Boolean);
  };

  const work = async () => {
    // What is most urgent may change while a chore is done.
    for (let job = next(); job?.chore && !isStopped; job = next()) {
      const { name, keeper, chore } = job;
      const end = durations.startTimer({ chore });
      try {
        await pause(async () => {
          // What it waited for may have closed the table.
          if (![...keepers()].some(([, open]) => open === keeper)) return;
          await keeper.run(chore).finally(() => afterChore(chore));
        });
        const ms = end() * 1_000;
        if (chore === "purge") purgeTime += (ms - purgeTime) / RECENT_PURGES;
        runs.inc({ chore, result: "ok" });
        log.debug("upkeep", { table: name, chore, ms: Math.round(ms) });
      } catch (error) {
        runs.inc({ chore, result: "failed" });
        log.error("upkeep_failed", { table: name, chore, cause: String(error) });
      }
    }
    if (!isStopped) schedule();
  };

  const schedule = () => {
    timer = setTimeout(() => {
      round = work();
    }, TICK);
  };
  schedule();

  return {
    pause,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
