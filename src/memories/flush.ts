import type { Base, Bases } from "./base/base.ts";
import type { OnStep } from "./base/bases.ts";
import type { Vault } from "./base/vault.ts";
import { type Chore, choreOf, type Due } from "./due.ts";
import type { Checkpoint, Log } from "./log/log.ts";
import { type Lease, LeaseLost } from "./log/shared-log.ts";
import { withLease } from "./shared/held-lease.ts";
import { isSame } from "./shared/open-shared-table.ts";
import type { KeptTable } from "./table.ts";

/** Milliseconds until it is looked again whether another process has done what it was about to do. */
const LEASED_AGAIN = 3_000;

export type Flush = ReturnType<typeof createFlush>;

/** What was added to a base since it was written as one. */
interface Added {
  times: number;
  rows: number;
}

interface Parts {
  table: KeptTable;
  log: Pick<Log, "checkpoint" | "expunge" | "head" | "shared">;
  bases: Bases;
  vault: Pick<Vault, "forget" | "restore">;
  due: Due;
  step: OnStep;
}

/** Which base this process has written itself, and under which lease. */
interface Own {
  base: string;
  epoch: number;
}

/**
 * Brings the log of one table into its base. Chores must not run at the same time. Where other processes
 * have the table too, one of them does it, under a lease; the others read its base.
 */
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
  /** An owner of leases: this opening of the table. */
  const owner = crypto.randomUUID();
  let lease: Lease | null = null;
  let own: Own | null = null;
  /** Whether another process has recorded a base, and whether one has asked for a flush in vain. */
  let [isBehind, isOverdue] = [false, false];
  /** Whether what this table has is not what others have recorded. */
  let mustReopen = false;

  /** Whether nobody else has written to the base, or may be writing to it. */
  const isOwn = () =>
    lease === null || (own?.base === base.current?.checkpoint.base && own?.epoch === lease.epoch);
  const canAppend = () => !mustRewrite && isOwn() && mayAdd(base.current, { pending, added, due });

  /**
   * Makes a base the one to come back to, and reads it from now on.
   * @param began when the flush began that wrote the log into it; null where none did
   */
  const record = async (next: Base, began: number | null) => {
    unrecorded = { base: next, began };
    await log.checkpoint(table.name, next.checkpoint, lease ?? undefined);
    unrecorded = null;
    if (lease) own = { base: next.checkpoint.base, epoch: lease.epoch };
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

  const rewrite = async (isToIndex = !table.fitsInMemory()) => {
    const [options, began] = [{ upTo: table.seq, model: table.model }, clock()];
    forgettingSince ??= pending.remainsSince;
    const checkpoint = await bases.rewrite(table.name, base.current, pending.all(), options);
    // Searches of a table that is not in memory need its indexes at once.
    const next = await openNew({ bases, vault }, checkpoint, isToIndex);
    added = { times: 0, rows: 0 };
    await record(next, began);
  };

  const forget = async () => {
    await vault.forget([...former]);
    former.clear();
    await step("former base removed");
    if (!(await log.expunge(table.name)))
      throw new Error("another process is reading the database's log");
    forgettingSince = null;
    await step("log expunged");
  };

  /** Reads a base that another process has recorded; what the log has besides stays as it is. */
  const move = async (recorded: Checkpoint) => {
    if (recorded.upTo > table.seq) throw new LeaseLost("others have recorded what is not here");
    await vault.restore(recorded.base, recorded.files);
    const next = await bases.open(recorded);
    await step("base of others opened");
    if (unrecorded && unrecorded.base !== base.current) unrecorded.base.close();
    [unrecorded, own, mustRewrite] = [null, null, false];
    added = { times: 0, rows: 0 };
    const replaced = base.replace(next);
    pending.drop(recorded.upTo, clock());
    forgettingSince = null;
    await replaced;
  };

  /** Reads the base that is recorded, if it is another one. */
  const follow = async () => {
    const head = await log.head(table.name);
    isBehind = false;
    const recorded = head?.checkpoint ?? null;
    if (recorded && !isSame(recorded, base.current?.checkpoint)) await move(recorded);
  };

  const flush = async () => {
    if (lease) await follow();
    if (unrecorded) await record(unrecorded.base, unrecorded.began);
    if (hasWork()) await (canAppend() ? append() : rewrite());
    await forget();
    isOverdue = false;
  };

  const index = async () => {
    if (lease) await follow();
    const present = base.current;
    if (!present) return;
    if (!isOwn()) {
      await rewrite(true);
      return await forget();
    }
    mustRewrite = true;
    await bases.index(present, !table.fitsInMemory());
    await record(present, null);
  };

  const hasWork = () =>
    pending.size > 0 || mustRewrite || (base.current !== null && !base.current.isUpToDate);
  const isLeft = () =>
    hasWork() || unrecorded !== null || former.size > 0 || forgettingSince !== null;
  const remainsSince = () => forgettingSince ?? pending.remainsSince;

  const work = async (chore: Chore) => {
    if (chore === "move") return await follow();
    const task = chore === "flush" ? flush : index;
    if (!log.shared) return await task();
    const isDone = await withLease(log.shared, { table: table.name, owner }, async (taken) => {
      lease = taken;
      await step("lease taken");
      await task().finally(() => {
        lease = null;
      });
    });
    if (!isDone) rest = { until: clock() + LEASED_AGAIN, hasFailed: true };
    return isDone;
  };

  /** What was written and can't be recorded any more is of no use. */
  const giveUp = async () => {
    mustReopen = true;
    const left = unrecorded?.base;
    unrecorded = null;
    if (!left || left === base.current) return;
    left.close();
    await vault.forget([left.checkpoint.base]).catch(() => {});
  };

  return {
    /** Is told which base is recorded, where others record some too. */
    noteRecorded(recorded: Pick<Checkpoint, "base" | "version"> | null): void {
      if (recorded && !isSame(recorded, base.current?.checkpoint)) isBehind = true;
    },
    /** Has the table flushed as soon as possible. */
    request(): void {
      isOverdue = true;
    },
    /** Whether the table must be opened again. */
    get mustReopen() {
      return mustReopen;
    },

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
      if (mustReopen) return null;
      const isResting = now < rest.until && (rest.hasFailed || pending.bytes < 8 * due.bytes);
      const since = remainsSince();
      const forgetAfter = Math.min(due.forgetAfter, Math.max(0, due.forgottenWithin - ahead));
      const mustForget = since !== null && now - since >= forgetAfter;
      // The rest after a long flush may take longer than forgetting may.
      if (isResting) return mustForget && !rest.hasFailed ? "flush" : null;
      if (isBehind) return "move";
      if (isOverdue) return "flush";
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
        if ((await work(chore)) === false) return;
        rest = { until: clock() + due.restFactor * (clock() - started), hasFailed: false };
      } catch (error) {
        rest = { until: clock() + due.retryAfter, hasFailed: true };
        if (error instanceof LeaseLost) await giveUp();
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
