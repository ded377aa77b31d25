import type { Metrics } from "../../metrics.ts";
import type { Log } from "./log.ts";
import { LeaseLost, type SharedLog } from "./shared-log.ts";

/** Adds metrics of the entries that this process reads from others, and of the leases that it takes and loses. */
export function measureLog<Measured extends Log & { shared: SharedLog }>(
  log: Measured,
  metrics: Metrics,
): Measured {
  const replayed = metrics.counter(
    "ctxd_replayed_entries_total",
    "Entries of the log that were read to catch up with other servers.",
  );
  const taken = metrics.counter("ctxd_leases_taken_total", "Leases of tables taken, for upkeep.");
  const lost = metrics.counter(
    "ctxd_leases_lost_total",
    "Leases that another server took, or may have taken, before they were released.",
  );
  let headsReadAt: number | null = null;
  metrics.gauge(
    "ctxd_log_lag_seconds",
    "Time since this server last read the state of its open tables.",
    () => (headsReadAt === null ? 0 : (performance.now() - headsReadAt) / 1_000),
  );

  const countLost = <Result>(call: Promise<Result>): Promise<Result> =>
    call.catch((error) => {
      if (error instanceof LeaseLost) lost.inc();
      throw error;
    });

  const { shared } = log;
  const measured: SharedLog = {
    ...shared,
    async heads(tables) {
      const heads = await shared.heads(tables);
      headsReadAt = performance.now();
      return heads;
    },
    async since(table, seq) {
      const since = await shared.since(table, seq);
      replayed.inc(since?.entries.length ?? 0);
      return since;
    },
    async lease(table, owner) {
      const lease = await shared.lease(table, owner);
      if (lease) taken.inc();
      return lease;
    },
    async renew(lease) {
      const isThere = await shared.renew(lease);
      if (!isThere) lost.inc();
      return isThere;
    },
    replace: (...args) => countLost(shared.replace(...args)),
  };
  return {
    ...log,
    checkpoint: (...args) => countLost(log.checkpoint(...args)),
    shared: measured,
  };
}
