import type { Log as Lines } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Chore } from "./due.ts";
import type { Flush } from "./flush.ts";

/** How often it is looked what is due, in milliseconds. */
const TICK = 500;
/** Milliseconds that a flush is taken to last before one was seen; then a moving average. */
const FLUSH_TIME = 100;
const RECENT_FLUSHES = 8;
/**
 * Tables that are flushed side by side when, one by one, something would not be forgotten in time:
 * as many as a small machine does beside searches.
 */
const AT_ONCE = 3;

/** A table that is open. */
export interface Kept {
  name: string;
  flush: Flush;
  /** Whether it is one too many, and is to be closed. */
  isInExcess: boolean;
  /** Keeps the table open, and others from ending it, until the task has ended. */
  hold(task: () => Promise<void>): Promise<void>;
}

/**
 * Flushes and indexes all open tables in the background, one table at a time, with the exception at
 * `AT_ONCE`.
 * @param kept the tables that are open now
 * @param afterChores is called when some were done
 */
export function startUpkeep({
  kept,
  afterChores,
  lines,
  metrics,
}: {
  kept: () => Kept[];
  afterChores: () => void;
  lines: Lines;
  metrics: Metrics;
}): {
  /** Lets the chores under way end, and begins no other. */
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
  let flushTime = FLUSH_TIME;

  /** What is most urgent now: what has waited longest to be forgotten, then the rest. */
  const next = (): { table: Kept; chore: Chore }[] => {
    const all = kept();
    const since = ({ flush }: Kept) => flush.remainsSince() ?? Number.POSITIVE_INFINITY;
    const ahead = flushTime * all.filter(({ flush }) => flush.remainsSince() !== null).length;
    const jobs = all.flatMap((table) => {
      const chore = table.flush.due(ahead, table.isInExcess);
      return chore ? { table, chore } : [];
    });
    jobs.sort((one, other) => since(one.table) - since(other.table));
    const isUrgent = all.some(({ flush, isInExcess }) => isInExcess || flush.isLate(ahead));
    return jobs.slice(0, isUrgent ? AT_ONCE : 1);
  };

  const run = async ({ table: { name, flush, hold }, chore }: ReturnType<typeof next>[number]) => {
    const end = durations.startTimer({ chore });
    try {
      await hold(() => flush.run(chore));
      runs.inc({ chore, result: "ok" });
      lines.debug("upkeep", { table: name, chore, ms: Math.round(end() * 1_000) });
    } catch (error) {
      runs.inc({ chore, result: "failed" });
      lines.error("upkeep_failed", { table: name, chore, cause: String(error) });
    }
  };

  const work = async () => {
    for (let jobs = next(); jobs.length > 0 && !isStopped; jobs = next()) {
      const started = performance.now();
      await Promise.all(jobs.map(run));
      const time = (performance.now() - started) / jobs.length;
      flushTime += (time - flushTime) / RECENT_FLUSHES;
      afterChores();
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
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
