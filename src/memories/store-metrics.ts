import type { Metrics } from "../metrics.ts";
import type { Outcome } from "./draft.ts";
import type { Journal } from "./journal.ts";
import type { Lookups } from "./row-cache.ts";
import type { Slot } from "./slot.ts";
import type { TableStats } from "./table-upkeep.ts";

/** Has metrics tell what the tables that are open come to, and how far upkeep lags behind writes. */
export function measureStore(
  metrics: Metrics,
  {
    journal,
    slots,
    lookups,
  }: { journal: Journal; slots: ReadonlyMap<string, Slot>; lookups: Readonly<Lookups> },
): {
  onCommit(outcome: Outcome): void;
  /** Seconds since the oldest change that upkeep has not seen to. */
  lag(): number;
} {
  const commits = metrics.counter("ctxd_commits_total", "Commits, each of one write or many.");
  const written = metrics.counter("ctxd_memories_written_total", "Memories saved or changed.");
  const removed = metrics.counter("ctxd_rows_removed_total", "Passages of memories removed.");

  metrics.gauge("ctxd_journal_entries", "Commits that no checkpoint includes yet.", journal.size);
  const age = (debt: "dirtySince" | "remainsSince") => {
    const since = [...slots.values()].map(({ keeper }) => keeper?.debts()[debt] ?? null);
    const oldest = Math.min(...since.filter((moment) => moment !== null));
    return Number.isFinite(oldest) ? (performance.now() - oldest) / 1_000 : 0;
  };
  metrics.gauge("ctxd_checkpoint_lag_seconds", "Age of the oldest of them.", () =>
    age("dirtySince"),
  );
  metrics.gauge(
    "ctxd_forgetting_lag_seconds",
    "Time since the oldest deletion of something that is still in the files.",
    () => age("remainsSince"),
  );
  metrics.gauge("ctxd_open_tables", "Tables in use, one for each account.", () => slots.size);

  const needed = "Rows that searches needed and";
  metrics.counterOf(
    "ctxd_row_cache_hits_total",
    `${needed} that were in memory.`,
    () => lookups.hits,
  );
  metrics.counterOf(
    "ctxd_row_cache_misses_total",
    `${needed} that were read from the files.`,
    () => lookups.misses,
  );

  const read = createStatsReader(slots);
  metrics.gauge("ctxd_table_rows", "Passages of memories in the open tables.", async () =>
    sum(await read(), ({ rows }) => rows),
  );
  metrics.gauge("ctxd_table_fragments", "Fragments of the open tables.", async () =>
    sum(await read(), ({ fragments }) => fragments),
  );

  return {
    onCommit(outcome) {
      commits.inc();
      written.inc(outcome.written.length);
      removed.inc(outcome.removed.length);
    },
    lag: () => Math.max(age("dirtySince"), age("remainsSince")),
  };
}

/** Reads the tables once for all who ask at the same time. */
function createStatsReader(slots: ReadonlyMap<string, Slot>): () => Promise<TableStats[]> {
  let underWay: Promise<TableStats[]> | null = null;
  const readAll = async () => {
    const all: TableStats[] = [];
    // One by one: nobody waits for this but who looks at numbers.
    for (const { opened } of [...slots.values()]) {
      const stats = await opened.then(({ table }) => table.upkeep.stats()).catch(() => null);
      if (stats) all.push(stats);
    }
    return all;
  };
  return () => {
    underWay ??= readAll().finally(() => {
      underWay = null;
    });
    return underWay;
  };
}

function sum(all: readonly TableStats[], of: (stats: TableStats) => number): number {
  return all.reduce((total, stats) => total + of(stats), 0);
}
