import type { Bases } from "./base/base.ts";
import type { OnStep } from "./base/bases.ts";
import type { Vault } from "./base/vault.ts";
import type { Checkpoint, Log } from "./log/log.ts";
import type { KeptTable } from "./table.ts";

/** When work on a table is due. Times are milliseconds. */
export const DUE = {
  /** The log is flushed when no write has come for so long, */
  idle: 5_000,
  /** or so long after the first change, */
  age: 60_000,
  /** or when it has so many changes or bytes, */
  changes: 1_000,
  bytes: 4 << 20,
  /** then with a rest of so many times as long as the last flush took. */
  restFactor: 4,
  /** What was deleted leaves the files this long after the answer; 60 s are promised. */
  forgetAfter: 15_000,
  /** The same with the time that the flushes of other tables take, done one by one. */
  forgottenWithin: 40_000,
  /** A flush that failed is tried again after this long. */
  retryAfter: 5_000,
  /**
   * Rows from which a table is large: writing it as a whole, or reading it into memory, takes longer
   * than some hundred milliseconds.
   */
  largeRows: 10_000,
  /** A large table gets its indexes when it has been at rest for so long. */
  indexAfter: 10_000,
  /** Flushes that add to a table before it is written as one again, and the share that they may add. */
  appends: 16,
  appendedShare: 0.5,
};
export type Due = typeof DUE;

/** What can be done to a table: write what the log has into its base, or index it. */
export type Chore = "flush" | "index";

/** Brings the log of one table into its base. Chores must not run at the same time. */
export interface Flush {
  /**
   * The chore that is due; `null` when none is.
   * @param ahead milliseconds that flushes of other tables will take
   * @param isInExcess the table is to be closed, and nothing shall be waited for
   */
  due(ahead: number, isInExcess: boolean): Chore | null;
  /** Whether something that was deleted may be in the files for too long. */
  isLate(ahead: number): boolean;
  run(chore: Chore): Promise<void>;
  /** Whether there is nothing to be done, now or later, that the next opening would not do. */
  isIdle(): boolean;
  /** When something was first deleted that is still in the files, by `performance.now()`. */
  remainsSince(): number | null;
}

export function createFlush({
  table,
  log,
  bases,
  vault,
  due,
  step,
}: {
  table: KeptTable;
  log: Pick<Log, "checkpoint" | "expunge">;
  bases: Bases;
  vault: Pick<Vault, "forget">;
  due: Due;
  step: OnStep;
}): Flush {
  const { base, pending } = table;
  const clock = () => performance.now();
  /** Bases that were written; all but the one that is recorded last are to be removed. */
  const written = new Set<string>(base.current ? [base.current.checkpoint.base] : []);
  /** Since when something is in the files that was deleted, once its flush is done. */
  let forgettingSince: number | null = null;
  let appends = 0;
  let appendedRows = 0;
  let mustRewrite = false;
  let rest = { until: 0, hasFailed: false };

  const former = () => [...written].filter((name) => name !== base.current?.checkpoint.base);

  const canAppend = () => {
    const present = base.current;
    if (!present?.isUpToDate || mustRewrite || pending.remainsSince !== null) return false;
    const added = appendedRows + pending.size;
    const most = Math.max(due.largeRows, due.appendedShare * present.rows);
    return present.rows > due.largeRows && appends < due.appends && added < most;
  };

  /** Makes a checkpoint the one to come back to, and reads its base from now on. */
  const adopt = async (checkpoint: Checkpoint) => {
    const present = base.current;
    // If this fails, a restart may find it recorded, or not.
    written.add(checkpoint.base);
    await log.checkpoint(table.name, checkpoint);
    await step("checkpoint recorded");
    const isSame = present?.checkpoint.base === checkpoint.base;
    const next = isSame ? present : await bases.open(checkpoint);
    await step("base opened");
    const replaced = base.replace(next);
    pending.drop(checkpoint.upTo);
    await replaced;
  };

  const append = async () => {
    const { current } = base;
    if (!current) return;
    const [added, upTo] = [pending.memories(), table.seq];
    // When it fails, the folder has files that belong to nothing.
    mustRewrite = true;
    const checkpoint = await bases.append(current, added, upTo);
    await adopt(checkpoint);
    [mustRewrite, appends, appendedRows] = [false, appends + 1, appendedRows + added.length];
  };

  const rewrite = async () => {
    const options = { upTo: table.seq, model: table.model };
    forgettingSince ??= pending.remainsSince;
    const checkpoint = await bases.rewrite(table.name, base.current, pending.all(), options);
    await adopt(table.fitsInMemory() ? checkpoint : await indexNew(checkpoint));
    [mustRewrite, appends, appendedRows] = [false, 0, 0];
  };

  /** A table that does not fit in memory is of no use to searches without its indexes. */
  const indexNew = async (checkpoint: Checkpoint) => {
    const open = await bases.open(checkpoint);
    try {
      return await bases.index(open, true);
    } finally {
      open.close();
    }
  };

  const forget = async () => {
    await vault.forget(former());
    for (const name of former()) written.delete(name);
    await step("former base removed");
    if (!(await log.expunge())) throw new Error("another process is reading the database's log");
    forgettingSince = null;
    await step("log expunged");
  };

  const flush = async () => {
    if (hasWork()) await (canAppend() ? append() : rewrite());
    await forget();
  };

  const index = async () => {
    const present = base.current;
    if (!present) return;
    mustRewrite = true;
    await log.checkpoint(table.name, await bases.index(present, !table.fitsInMemory()));
    mustRewrite = false;
  };

  const hasWork = () =>
    pending.size > 0 || mustRewrite || (base.current !== null && !base.current.isUpToDate);
  const remainsSince = () => forgettingSince ?? pending.remainsSince;
  const lacksIndex = () => {
    const present = base.current;
    return present !== null && present.rows > due.largeRows && !present.isIndexed;
  };

  return {
    remainsSince,

    isLate: (ahead) => {
      const since = remainsSince();
      return since !== null && clock() - since + ahead >= due.forgottenWithin;
    },

    due(ahead, isInExcess) {
      const now = clock();
      const isLeft = hasWork() || former().length > 0 || forgettingSince !== null;
      if (now < rest.until && (rest.hasFailed || pending.bytes < 8 * due.bytes)) return null;
      if (isInExcess && isLeft) return "flush";
      const since = remainsSince();
      const forgetAfter = Math.min(due.forgetAfter, Math.max(0, due.forgottenWithin - ahead));
      if (since !== null && now - since >= forgetAfter) return "flush";
      const quiet = now - pending.lastCommit;
      if (isLeft && since === null && quiet >= due.idle) return "flush";
      const isMuch = pending.size >= due.changes || pending.bytes >= due.bytes;
      const isOld = pending.dirtySince !== null && now - pending.dirtySince >= due.age;
      if (isMuch || isOld) return "flush";
      return lacksIndex() && quiet >= due.indexAfter ? "index" : null;
    },

    async run(chore) {
      const started = clock();
      try {
        await (chore === "flush" ? flush() : index());
        rest = { until: clock() + due.restFactor * (clock() - started), hasFailed: false };
      } catch (error) {
        rest = { until: clock() + due.retryAfter, hasFailed: true };
        throw error;
      }
    },

    isIdle: () => !hasWork() && former().length === 0 && forgettingSince === null,
  };
}
