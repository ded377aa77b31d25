import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Chore, Keeper } from "./keeper.ts";

/** How often it is looked what is due, in milliseconds. */
const TICK = 500;
/** Milliseconds that purging a table is taken to last before it was seen; then a moving average. */
const PURGE_TIME = 100;
const RECENT_PURGES = 8;
/**
 * Tables that are seen to side by side: at purges when, one by one, something would not be gone in
 * time, as many as a small machine does beside searches; at checkpoints, which do little but wait for
 * the disk, more.
 */
const PURGES_AT_ONCE = 3;
const CHECKPOINTS_AT_ONCE = 8;
/** The most urgent first: what can't be read, a promise to forget, durability, then speed. */
const ORDER: readonly Chore[] = ["recover", "purge", "checkpoint", "optimize"];

/** A table that is open. */
export interface Kept {
  name: string;
  keeper: Keeper;
  /** Whether it is one too many, and is to be closed. */
  isInExcess: boolean;
}

/** What is to be done, or was just done. */
export interface Job {
  name: string;
  keeper: Keeper;
  chore: Chore;
}

/**
 * Does the chores of all open tables in the background, one table at a time, with the
 * exceptions at `PURGES_AT_ONCE`.
 * @param kept the tables that are open now
 * @param afterChores is waited for before the next one
 */
export function startUpkeep({
  kept,
  afterChores,
  log,
  metrics,
}: {
  kept: () => Iterable<Kept>;
  afterChores: (jobs: readonly Job[]) => Promise<void>;
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

  /** What is most urgent now. It may change while a chore is done. */
  const next = (): Job[] => {
    const all = [...kept()];
    const waiting = all.filter(({ keeper }) => keeper.hasRemains());
    const ahead = purgeTime * waiting.length;
    const due = all.map((table) => ({
      ...table,
      chore: table.keeper.due(ahead, table.isInExcess),
    }));
    const [chore] = ORDER.filter((chore) => due.some((candidate) => candidate.chore === chore));
    const isLate = waiting.some(({ keeper, isInExcess }) => isInExcess || keeper.isLate(ahead));
    const atOnce: Partial<Record<Chore, number>> = {
      checkpoint: CHECKPOINTS_AT_ONCE,
      purge: isLate ? PURGES_AT_ONCE : 1,
    };
    const jobs = due.filter((candidate): candidate is Kept & Job => candidate.chore === chore);
    const since = ({ keeper }: Job) => keeper.debts().remainsSince ?? 0;
    jobs.sort((one, other) => since(one) - since(other));
    return jobs.slice(0, (chore && atOnce[chore]) ?? 1);
  };

  const run = async ({ name, keeper, chore }: Job) => {
    // What it waited for may have closed the table.
    if (![...kept()].some((open) => open.keeper === keeper)) return;
    const end = durations.startTimer({ chore });
    try {
      await keeper.run(chore);
      runs.inc({ chore, result: "ok" });
      log.debug("upkeep", { table: name, chore, ms: Math.round(end() * 1_000) });
    } catch (error) {
      runs.inc({ chore, result: "failed" });
      log.error("upkeep_failed", { table: name, chore, cause: String(error) });
    }
  };

  const runAll = async (jobs: Job[]) => {
    const started = performance.now();
    await Promise.all(jobs.map(run));
    const time = (performance.now() - started) / jobs.length;
    if (jobs[0]?.chore === "purge") purgeTime += (time - purgeTime) / RECENT_PURGES;
    await afterChores(jobs);
  };

  const work = async () => {
    for (let jobs = next(); jobs.length > 0 && !isStopped; jobs = next()) {
      await pause(() => runAll(jobs)).catch((error) =>
        log.error("upkeep_failed", { cause: String(error) }),
      );
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
