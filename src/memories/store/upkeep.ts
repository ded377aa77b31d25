import type { Log as Lines } from "../../log.ts";
import type { Metrics } from "../../metrics.ts";
import { type Loop, startLoop } from "../../timing/loop.ts";
import type { Flush } from "../upkeep/flush.ts";
import type { Chore } from "../upkeep/flush-state.ts";

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

/** An open table, as upkeep sees it. */
export interface UpkeptTable {
  name: string;
  flush: Flush;
  /** Whether too many tables are open and this one is to be closed. */
  isInExcess: boolean;
  /** Runs a task while the table stays open. */
  run(task: () => Promise<void>): Promise<void>;
}

/**
 * Flushes and indexes all open tables in the background, one at a time, or `MAX_PARALLEL` when something
 * is urgent.
 * @param tables the tables that are open now
 * @param afterChores is called after each round of chores
 */
export function startUpkeep({
  tables,
  afterChores,
  lines,
  metrics,
}: {
  tables: () => UpkeptTable[];
  afterChores: () => void;
  lines: Lines;
  metrics: Metrics;
}): Loop {
  const runs = metrics.counter("ctxd_upkeep_runs_total", "Chores done on tables.", [
    "chore",
    "result",
  ]);
  const durations = metrics.durations("ctxd_upkeep_duration_seconds", "Time of a chore.", [
    "chore",
  ]);
  let flushTime = FIRST_FLUSH_MS;

  /** The most urgent chores. Tables whose deleted data is oldest come first. */
  const next = (): { table: UpkeptTable; chore: Chore }[] => {
    const all = tables();
    const since = ({ flush }: UpkeptTable) => flush.remainsSince() ?? Number.POSITIVE_INFINITY;
    const ahead = flushTime * all.filter(({ flush }) => flush.remainsSince() !== null).length;
    const jobs = all.flatMap((table) => {
      const chore = table.flush.due(ahead, table.isInExcess);
      return chore ? { table, chore } : [];
    });
    jobs.sort((one, other) => since(one.table) - since(other.table));
    const isUrgent = all.some(({ flush, isInExcess }) => isInExcess || flush.isLate(ahead));
    return jobs.slice(0, isUrgent ? MAX_PARALLEL : 1);
  };

  const runChore = async ({ table, chore }: ReturnType<typeof next>[number]) => {
    const end = durations.startTimer({ chore });
    try {
      await table.run(() => table.flush.run(chore));
      runs.inc({ chore, result: "ok" });
      lines.debug("upkeep", { table: table.name, chore, ms: Math.round(end() * 1_000) });
    } catch (error) {
      runs.inc({ chore, result: "failed" });
      lines.error("upkeep_failed", { table: table.name, chore, cause: String(error) });
    }
  };

  return startLoop(async (isStopped) => {
    for (let jobs = next(); jobs.length > 0 && !isStopped(); jobs = next()) {
      const started = performance.now();
      await Promise.all(jobs.map(runChore));
      const time = (performance.now() - started) / jobs.length;
      flushTime += (time - flushTime) / AVERAGED_FLUSHES;
      afterChores();
    }
    return CHECK_MS;
  }, CHECK_MS);
}
