import type { Relate } from "../../embedding/relations/relater.ts";
import type { Log } from "../log/log.ts";
import { type Checkpoint, isSameBase } from "../log/records.ts";
import { LeaseLost, withLease } from "../log/shared-log.ts";
import { createComparing } from "./comparing.ts";
import {
  type Chore,
  createFlushState,
  dueChore,
  hasPendingWork,
  remainsSince,
  rewriteTime,
} from "./flush-state.ts";
import {
  abandonUnrecorded,
  type FlushContext,
  flushTable,
  indexTable,
  readRecordedBase,
} from "./flush-steps.ts";

/** Milliseconds until a chore is tried again whose lease another process has. */
const LEASE_RETRY_MS = 3_000;

export type Flush = ReturnType<typeof createFlush>;

/**
 * Brings the log of one table into its base. Chores of a table must not run at the same time. Where
 * several processes have the table, one of them runs its chores, under a lease; the others read its base.
 */
export function createFlush({
  log,
  relate,
  ...parts
}: Omit<FlushContext, "state" | "comparing" | "log"> & {
  log: FlushContext["log"] & Pick<Log, "likenesses">;
  relate: Relate;
}) {
  const { table, due, step } = parts;
  const state = createFlushState();
  const { likenesses } = log;
  const comparing = createComparing({ table, likenesses, relate, lease: () => state.lease });
  const context = { ...parts, log, state, comparing };
  /** Owner of leases: this opening of the table. */
  const owner = crypto.randomUUID();

  const runUnderLease = async (task: () => Promise<void>): Promise<boolean> => {
    if (!log.shared) {
      await task();
      return true;
    }
    return await withLease(log.shared, { table: table.name, owner }, async (lease) => {
      state.lease = lease;
      await step("lease taken");
      await task().finally(() => {
        state.lease = null;
      });
    });
  };

  /**
   * Compares nothing before all that the recorded base includes was read: memories that it no longer has would be compared.
   * @returns false in this case, and when another process has the lease
   */
  const compare = async (): Promise<boolean> => {
    let isCurrent = true;
    const isOurs = await runUnderLease(async () => {
      const recorded = (await log.head(table.name))?.checkpoint;
      isCurrent = !recorded || recorded.upTo <= table.seq;
      if (isCurrent) await comparing.run(due.restFactor);
    });
    return isOurs && isCurrent;
  };

  /** @returns false when another process has the lease */
  const work = async (chore: Chore): Promise<boolean> => {
    if (chore === "flush") return await runUnderLease(() => flushTable(context));
    if (chore === "index") return await runUnderLease(() => indexTable(context));
    if (chore === "compare") return await compare();
    await readRecordedBase(context);
    return true;
  };

  const restFor = (ms: number, hasFailed: boolean) => {
    state.rest = { until: performance.now() + ms, hasFailed };
  };

  /** After a failure everything rests. */
  const mayCompare = () =>
    !state.mustReopen && !(state.rest.hasFailed && performance.now() < state.rest.until);

  return {
    /** Receives the base that is recorded, which another process may have written. */
    noteRecorded(recorded: Pick<Checkpoint, "base" | "version"> | null): void {
      if (recorded && !isSameBase(recorded, table.base.current?.checkpoint)) state.isBehind = true;
    },
    /** Makes a flush due as soon as possible. */
    request(): void {
      state.isRequested = true;
    },
    /** Whether the table differs from what other processes have recorded, and must be opened again. */
    mustReopen: () => state.mustReopen,

    /** When the oldest deletion was made whose data is still in the files, by `performance.now()`. */
    remainsSince: () => remainsSince(table, state),

    /** Whether deleted data may stay in the files for too long. */
    isLate(ahead: number): boolean {
      const since = remainsSince(table, state);
      const time = ahead + rewriteTime(table);
      return since !== null && performance.now() - since + time >= due.forgottenWithin;
    },

    /** The chore that is due; see `dueChore`. */
    due: (ahead: number, isInExcess: boolean): Chore | null =>
      dueChore(table, state, due, { ahead, isInExcess }) ??
      (comparing.isDue() && mayCompare() ? "compare" : null),

    async run(chore: Chore): Promise<void> {
      const started = performance.now();
      try {
        const isDone = await work(chore);
        // Comparing rests by itself, and delays no other chore.
        if (isDone && chore === "compare") return;
        if (isDone) restFor(due.restFactor * (performance.now() - started), false);
        else if (chore === "compare") comparing.rest(LEASE_RETRY_MS);
        else restFor(LEASE_RETRY_MS, true);
      } catch (error) {
        if (chore !== "compare" || error instanceof LeaseLost) restFor(due.retryAfter, true);
        if (error instanceof LeaseLost) {
          state.mustReopen = true;
          await abandonUnrecorded(context);
        }
        throw error;
      }
    },

    /** Whether closing the table would leave no work undone. */
    isIdle: (): boolean => !hasPendingWork(state, table),
  };
}
