import type { Log as Logger } from "../../log.ts";
import type { Metrics } from "../../metrics.ts";
import { type Loop, startLoop } from "../../timing/loop.ts";
import type { Chore } from "../upkeep/flush-state.ts";
import type { createPool, createPoolLimits, PoolItem } from "./pool.ts";
import type { PooledTable } from "./pooled-table.ts";

/** Milliseconds between two checks of what is due. */
const CHECK_MS = 500;
/** The expected duration of a flush before one was measured; then a moving average of this many. */
const FIRST_FLUSH_MS = 100;
const AVERAGED_FLUSHES = 8;
/**
 * Tables that are flushed side by side when flushing one by one would forget deleted data too late. A small
 * machine can run this many beside searches.
 */
const MAX_PARALLEL = 3;

type Pool = ReturnType<typeof createPool>;

/** Runs a chore while its table stays open. A table that must be opened again closes afterwards. */
export function runChore(
  pool: Pool,
  item: PoolItem,
  open: PooledTable,
  chore: Chore,
): Promise<void> {
  const run = () =>
    open.flush.run(chore).finally(() => {
      if (open.flush.mustReopen()) pool.retire(item);
    });
  open.chore = pool.hold(item, run);
  return open.chore;
}

/**
 * Flushes and indexes all open tables in the background, one at a time, or `MAX_PARALLEL` when something
 * is urgent.
 */
export function startUpkeep(
  pool: Pool,
  limits: ReturnType<typeof createPoolLimits>,
  { logger, metrics }: { logger: Logger; metrics: Metrics },
): Loop {
  const runs = metrics.counter("ctxd_upkeep_runs_total", "Chores done on tables.", [
    "chore",
    "result",
  ]);
  const durations = metrics.durations("ctxd_upkeep_duration_seconds", "Time of a chore.", [
    "chore",
  ]);
  let flushTime = FIRST_FLUSH_MS;

  /** The most urgent chores. Tables whose deleted data is oldest come first. */
  const next = () => {
    const excess = limits.inExcess();
    const all = pool.all().flatMap((item) => {
      const open = item.value;
      if (!open || open.ending) return [];
      const remainsSince = open.flush.remainsSince() ?? Number.POSITIVE_INFINITY;
      return [{ item, open, remainsSince, isInExcess: excess.has(item) }];
    });
    const ahead = flushTime * all.filter((table) => Number.isFinite(table.remainsSince)).length;
    const jobs = all.flatMap((table) => {
      const chore = table.open.flush.due(ahead, table.isInExcess);
      return chore ? { ...table, chore } : [];
    });
    jobs.sort((one, other) => one.remainsSince - other.remainsSince);
    // Tables are compared while nothing else is due.
    const others = jobs.filter(({ chore }) => chore !== "compare");
    const isUrgent = all.some(({ open, isInExcess }) => isInExcess || open.flush.isLate(ahead));
    return others.length > 0 ? others.slice(0, isUrgent ? MAX_PARALLEL : 1) : jobs.slice(0, 1);
  };

  const run = async ({ item, open, chore }: ReturnType<typeof next>[number]) => {
    const end = durations.startTimer({ chore });
    const table = item.name;
    try {
      await runChore(pool, item, open, chore);
      runs.inc({ chore, result: "ok" });
      logger.debug("upkeep", { table, chore, ms: Math.round(end() * 1_000) });
    } catch (error) {
      runs.inc({ chore, result: "failed" });
      logger.error("upkeep_failed", { table, chore, cause: String(error) });
    }
  };

  return startLoop(async (isStopped) => {
    for (let jobs = next(); jobs.length > 0 && !isStopped(); jobs = next()) {
      const started = performance.now();
      await Promise.all(jobs.map(run));
      const time = (performance.now() - started) / jobs.length;
      const isFlushing = jobs.some(({ chore }) => chore !== "compare");
      if (isFlushing) flushTime += (time - flushTime) / AVERAGED_FLUSHES;
      limits.closeUnused();
    }
    return CHECK_MS;
  }, CHECK_MS);
}
