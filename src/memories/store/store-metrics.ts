import type { Metrics } from "../../metrics.ts";
import type { Log } from "../log/log.ts";
import type { Outcome } from "../log/pending.ts";
import type { KeptTable } from "../table/table.ts";
import type { PooledTable } from "./pooled-table.ts";

/** How far the upkeep of open tables is behind, in seconds; 0 when nothing waits. */
export function lagsOf(opened: readonly PooledTable[]) {
  return {
    /** Since the oldest change that no base includes yet. */
    flush: longestSince(opened.map(({ table }) => table.pending.dirtySince)),
    /** Since the oldest deletion whose data is still in the files. */
    forgetting: longestSince(opened.map(({ flush }) => flush.remainsSince())),
  };
}

/** Seconds since the first of some moments of `performance.now()`; 0 without any. */
function longestSince(moments: readonly (number | null)[]): number {
  const now = performance.now();
  return (now - Math.min(now, ...moments.filter((moment) => moment !== null))) / 1_000;
}

/**
 * Adds metrics of the open tables, and of the lag of their upkeep.
 * @returns counts a commit
 */
export function measureStore(
  metrics: Metrics,
  { log, opened }: { log: Pick<Log, "size">; opened: () => PooledTable[] },
): (outcome: Outcome) => void {
  const commits = metrics.counter("ctxd_commits_total", "Commits, each of one write or many.");
  const written = metrics.counter("ctxd_memories_written_total", "Memories saved or changed.");
  const removed = metrics.counter("ctxd_memories_removed_total", "Memories removed.");

  metrics.gauge("ctxd_log_entries", "Commits that no base includes yet.", log.size);
  const sum = (of: (table: KeptTable) => number) =>
    opened().reduce((total, { table }) => total + of(table), 0);
  metrics.gauge(
    "ctxd_flush_lag_seconds",
    "Age of the oldest commit that no base includes yet.",
    () => lagsOf(opened()).flush,
  );
  metrics.gauge(
    "ctxd_forgetting_lag_seconds",
    "Time since the oldest deletion whose data is still in the files.",
    () => lagsOf(opened()).forgetting,
  );
  metrics.gauge("ctxd_open_tables", "Tables in use, one for each account.", () => opened().length);
  metrics.gauge("ctxd_view_memories", "Memories in the views of open tables.", () =>
    sum(({ view }) => view.current?.size ?? 0),
  );
  metrics.gauge("ctxd_view_bytes", "Approximate memory that the views use.", () =>
    sum(({ view }) => view.current?.bytes ?? 0),
  );
  metrics.gauge("ctxd_base_rows", "Passages of memories in the bases of open tables.", () =>
    sum(({ base }) => base.current?.rows ?? 0),
  );

  return (outcome) => {
    commits.inc();
    written.inc(outcome.written.length);
    removed.inc(outcome.removed.length);
  };
}
