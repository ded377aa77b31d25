import { edenGC } from "bun:jsc";
import type { Log as Logger } from "../../log.ts";
import type { Metrics } from "../../metrics.ts";
import type { TableHead } from "../log/shared-log.ts";
import type { KeptTable } from "../table/table.ts";
import { WriterEnded } from "../table/writer.ts";
import { createPool, createPoolLimits, openedTable } from "./pool.ts";
import {
  endWrites,
  type OpenTable,
  openPooledTable,
  type PooledTable,
  type TableOpening,
} from "./pooled-table.ts";
import { lagsOf, measureStore } from "./store-metrics.ts";
import { runChore, startUpkeep } from "./upkeep.ts";

/**
 * Closed tables after which all garbage is collected, and those after which young garbage is, in some 5 ms.
 * Most garbage of a closed table is young. Without this, JavaScriptCore lets garbage grow to the size of all
 * live data: 200 MB more when 1,000 accounts take turns.
 */
const TABLES_PER_COLLECTION = 32;
const TABLES_PER_YOUNG_COLLECTION = 4;
/** Pause after a collection of all garbage, in multiples of its duration. */
const REST_FACTOR = 15;

/** Returns a function that is called after each closed table and sometimes collects garbage. */
function createGarbageCollection(): () => void {
  let uncollected = 0;
  let restUntil = 0;
  return () => {
    const started = performance.now();
    uncollected++;
    if (uncollected < TABLES_PER_COLLECTION || started < restUntil) {
      if (uncollected % TABLES_PER_YOUNG_COLLECTION === 0) edenGC();
      return;
    }
    uncollected = 0;
    Bun.gc(true);
    restUntil = started + (1 + REST_FACTOR) * (performance.now() - started);
  };
}

export type OpenTables = ReturnType<typeof createOpenTables>;

/**
 * The tables by name. A table opens when it is first used, and upkeep runs while it is open.
 * @param viewMemory bytes of memory for all views together
 */
export function createOpenTables({
  viewMemory,
  logger,
  metrics,
  ...options
}: TableOpening & { viewMemory: number; logger: Logger; metrics: Metrics }) {
  const countCommit = measureStore(metrics, { log: options.storage.log, opened: () => opened() });
  const opening: TableOpening = {
    ...options,
    onChange(table, outcome, isOwn) {
      if (isOwn) countCommit(outcome);
      options.onChange(table, outcome, isOwn);
    },
  };
  const { shared } = opening.storage.log;
  const forViews = { bytes: viewMemory, make: (bytes: number) => limits.makeRoom(bytes) };
  const collectGarbage = createGarbageCollection();
  const pool = createPool(
    (name) => openPooledTable(name, opening, forViews),
    async ({ table }) => {
      table.view.close();
      await table.base.replace(null);
      collectGarbage();
    },
  );
  const limits = createPoolLimits(pool, { viewMemory, mayCloseUnflushed: shared !== undefined });
  const opened = (): PooledTable[] => pool.all().flatMap(({ value }) => value ?? []);

  const upkeep = startUpkeep(pool, limits, { logger, metrics });

  return {
    opened: (): KeptTable[] => opened().map(({ table }) => table),
    /** The longer one of the lags, in seconds. */
    lag: (): number => Math.max(...Object.values(lagsOf(opened()))),

    /**
     * Runs `task` on a table, which stays open meanwhile.
     * @throws WriterEnded when the table is being removed or replaced, once that is done
     */
    async use<Result>(name: string, task: (open: OpenTable) => Promise<Result>): Promise<Result> {
      await limits.waitForPlace(name);
      // The table may have been replaced or removed during the wait. To open it again would take writes
      // that nobody reads.
      opening.checkUse?.(name);
      return await pool.use(name, async (item) => {
        try {
          return await task(await openedTable(item));
        } catch (error) {
          if (error instanceof WriterEnded) {
            if (shared && !item.value?.ending) pool.retire(item);
            else await item.value?.ending;
          }
          throw error;
        }
      });
    },

    /** Reads the new entries of open tables, and closes the tables that have no head any more. */
    catchUp(names: readonly string[], heads: ReadonlyMap<string, TableHead>): void {
      for (const name of names) {
        const item = pool.get(name);
        if (!item?.value) continue;
        const { table, writer, flush } = item.value;
        const head = heads.get(name);
        if (!head) {
          if (table.seq > 0) pool.retire(item);
          continue;
        }
        const readEntries = async () => {
          await writer.catchUp(head.seq);
          flush.noteRecorded(head.checkpoint);
        };
        pool.hold(item, readEntries).catch((error) => {
          if (error instanceof WriterEnded) pool.retire(item);
        });
      }
    },

    /** Opens a table and has it flushed as soon as possible. */
    flushSoon: (name: string): Promise<void> =>
      pool.use(name, async ({ opening }) => (await opening).flush.request()),

    /**
     * Runs a task after the last commit of a table, and refuses writes until the task has ended. If it
     * succeeds, the table closes, and this resolves when the last user has released it.
     */
    async end(name: string, task: () => Promise<void>): Promise<void> {
      const closed = await pool.use(name, async (item) => {
        // A table that can't be opened has no running writes.
        const open = await item.opening.catch(() => null);
        await (open ? endWrites(open, task) : task());
        pool.retire(item);
        return item.closed;
      });
      await closed.promise;
    },

    /** Ends upkeep, and flushes the tables that no other process could flush. */
    async close(): Promise<void> {
      await upkeep.stop();
      for (const item of pool.all()) {
        const open = await item.opening.catch(() => null);
        if (!shared && open && !item.isRetired && !open.ending && !open.flush.isIdle()) {
          await runChore(pool, item, open, "flush").catch((error) => {
            logger.error("flush_failed", { table: item.name, cause: String(error) });
          });
        }
        pool.retire(item);
      }
    },
  };
}
