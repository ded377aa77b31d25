import type { Base, Bases } from "./base/base.ts";
import type { OnStep } from "./base/bases.ts";
import type { Vault } from "./base/vault.ts";
import type { Checkpoint, Log } from "./log/log.ts";
import type { Pending } from "./log/pending.ts";
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

export type Flush = ReturnType<typeof createFlush>;

/** What was added to a base since it was written as one. */
interface Added {
  times: number;
  rows: number;
}

interface Parts {
  table: KeptTable;
  log: Pick<Log, "checkpoint" | "expunge">;
  bases: Bases;
  vault: Pick<Vault, "forget">;
  due: Due;
  step: OnStep;
}

/** Brings the log of one table into its base. Chores must not run at the same time. */
export function createFlush({ table, log, bases, vault, due, step }: Parts) {
  const { base, pending } = table;
  const clock = () => performance.now();
  /** Bases whose place others have taken, and whose files may still be there. */
  const former = new Set<string>();
  /** A base that may be recorded, or not. It must be before anything else is done. */
  let unrecorded: { base: Base; began: number | null } | null = null;
  /** Since when something is in the files that was deleted, once its flush is done. */
  let forgettingSince: number | null = null;
  let added: Added = { times: 0, rows: 0 };
  /** Whether the base's folder has files that belong to nothing, as a failure may leave. */
  let mustRewrite = false;
  let rest = { until: 0, hasFailed: false };

  const canAppend = () => !mustRewrite && mayAdd(base.current, { pending, added, due });

  /**
   * Makes a base the one to come back to, and reads it from now on.
   * @param began when the flush began that wrote the log into it; null where none did
   */
  const record = async (next: Base, began: number | null) => {
    unrecorded = { base: next, began };
    await log.checkpoint(table.name, next.checkpoint);
    unrecorded = null;
    await step("checkpoint recorded");
    const present = base.current;
    if (present && present !== next) former.add(present.checkpoint.base);
    const replaced = base.replace(next);
    if (began !== null) pending.drop(next.checkpoint.upTo, began);
    mustRewrite = false;
    await replaced;
  };

  const append = async () => {
    const { current } = base;
    if (!current) return;
    const [memories, upTo, began] = [pending.memories(), table.seq, clock()];
    mustRewrite = true;
    await bases.append(current, memories, upTo);
    added = { times: added.times + 1, rows: added.rows + memories.length };
    await record(current, began);
  };

  const rewrite = async () => {
    const [options, began] = [{ upTo: table.seq, model: table.model }, clock()];
    forgettingSince ??= pending.remainsSince;
    const checkpoint = await bases.rewrite(table.name, base.current, pending.all(), options);
    // Searches of a table that is not in memory need its indexes at once.
    const next = await openNew({ bases, vault }, checkpoint, !table.fitsInMemory());
    added = { times: 0, rows: 0 };
    await record(next, began);
  };

  const forget = async () => {
    await vault.forget([...former]);
    former.clear();
    await step("former base removed");
    if (!(await log.expunge())) throw new Error("another process is reading the database's log");
    forgettingSince = null;
    await step("log expunged");
  };

  const flush = async () => {
    if (unrecorded) await record(unrecorded.base, unrecorded.began);
    if (hasWork()) await (canAppend() ? append() : rewrite());
    await forget();
  };

  const index = async () => {
    const present = base.current;
    if (!present) return;
    mustRewrite = true;
    await bases.index(present, !table.fitsInMemory());
    await record(present, null);
  };

  const hasWork = () =>
    pending.size > 0 || mustRewrite || (base.current !== null && !base.current.isUpToDate);
  const isLeft = () =>
    hasWork() || unrecorded !== null || former.size > 0 || forgettingSince !== null;
  const remainsSince = () => forgettingSince ?? pending.remainsSince;

  return {
    /** When something was first deleted that is still in the files, by `performance.now()`. */
    remainsSince,

    /** Whether something that was deleted may be in the files for too long. */
    isLate(ahead: number): boolean {
      const since = remainsSince();
      return since !== null && clock() - since + ahead >= due.forgottenWithin;
    },

    /**
     * The chore that is due; `null` when none is.
     * @param ahead milliseconds that flushes of other tables will take
     * @param isInExcess the table is to be closed, and nothing shall be waited for
     */
    due(ahead: number, isInExcess: boolean): Chore | null {
      const now = clock();
      const isResting = now < rest.until && (rest.hasFailed || pending.bytes < 8 * due.bytes);
      const since = remainsSince();
      const forgetAfter = Math.min(due.forgetAfter, Math.max(0, due.forgottenWithin - ahead));
      const mustForget = since !== null && now - since >= forgetAfter;
      // The rest after a long flush may take longer than forgetting may.
      if (isResting) return mustForget && !rest.hasFailed ? "flush" : null;
      const facts = {
        isLeft: isLeft(),
        hasRemains: since !== null,
        // A base that is indexed is recorded: all of it must have been wanted.
        lacksIndex: !mustRewrite && unrecorded === null && lacksIndex(base.current, due),
      };
      return choreOf(pending, { ...facts, mustForget, isInExcess, now }, due);
    },

    async run(chore: Chore): Promise<void> {
      const started = clock();
      try {
        await (chore === "flush" ? flush() : index());
        rest = { until: clock() + due.restFactor * (clock() - started), hasFailed: false };
      } catch (error) {
        rest = { until: clock() + due.retryAfter, hasFailed: true };
        throw error;
      }
    },

    /** Whether there is nothing to be done, now or later, that the next opening would not do. */
    isIdle: (): boolean => !isLeft(),
  };
}

/** Whether to add to a base what is pending, instead of writing it as a whole. */
function mayAdd(
  base: Base | null,
  { pending, added, due }: Pick<KeptTable, "pending"> & { added: Added; due: Due },
): boolean {
  if (!base?.isUpToDate || pending.remainsSince !== null) return false;
  const most = Math.max(due.largeRows, due.appendedShare * base.rows);
  const isInBounds = added.times < due.appends && added.rows + pending.size < most;
  return base.rows > due.largeRows && isInBounds;
}

function lacksIndex(base: Base | null, due: Due): boolean {
  return base !== null && base.rows > due.largeRows && !base.isIndexed;
}

/** Opens a base that was just written, and indexes it if need be. When that fails, it is removed. */
async function openNew(
  { bases, vault }: Pick<Parts, "bases" | "vault">,
  checkpoint: Checkpoint,
  isToIndex: boolean,
): Promise<Base> {
  let open: Base | null = null;
  try {
    open = await bases.open(checkpoint);
    if (isToIndex) await bases.index(open, true);
    return open;
  } catch (error) {
    open?.close();
    await vault.forget([checkpoint.base]).catch(() => {});
    throw error;
  }
}

/** What makes a chore due, besides what is pending. */
interface Situation {
  /** Whether anything is to be flushed or removed. */
  isLeft: boolean;
  /** Whether something deleted is in the files, and whether it must leave them now. */
  hasRemains: boolean;
  mustForget: boolean;
  lacksIndex: boolean;
  isInExcess: boolean;
  now: number;
}

function choreOf(
  pending: Pick<Pending, "size" | "bytes" | "dirtySince" | "lastCommit">,
  { isLeft, hasRemains, mustForget, lacksIndex, isInExcess, now }: Situation,
  due: Due,
): Chore | null {
  if (mustForget || (isInExcess && isLeft)) return "flush";
  const quiet = now - pending.lastCommit;
  // What has to leave the files is flushed soon anyway.
  if (isLeft && !hasRemains && quiet >= due.idle) return "flush";
  const isMuch = pending.size >= due.changes || pending.bytes >= due.bytes;
  const isOld = pending.dirtySince !== null && now - pending.dirtySince >= due.age;
  if (isMuch || isOld) return "flush";
  // A flush that removes something writes the base again, and must not wait for an index of this one.
  return lacksIndex && !hasRemains && quiet >= due.indexAfter ? "index" : null;
}
