import { and, desc, eq, isNull, lte, or } from "drizzle-orm";
import type { Spaces } from "../accounts/spaces.ts";
import type { Database } from "../db/database.ts";
import { createSecret } from "../db/id.ts";
import { AppError, messageOf } from "../errors.ts";
import { inSpace, type Reach, requireScope, wholeAccount } from "../keys/reach.ts";
import type { Log } from "../log.ts";
import { applyChange, type Change, type ChangedMemories } from "./change.ts";
import { createUndoTables } from "./tables.ts";

/** Milliseconds for which a change is pending and can be undone. */
export const UNDO_MS = 10_000;
/** Milliseconds after which a change that was begun is begun again: the server that began it has died. */
const ABANDONED_MS = 60_000;
/** Pending changes of one account. */
const MAX_PENDING = 20;

/** A change that can still be undone, or that is being applied. */
export interface PendingChange {
  readonly id: string;
  readonly change: Change;
  /** Milliseconds until the change is due. */
  readonly remainingMs: number;
}

/** A change that a server applies. */
interface Begun {
  readonly id: string;
  readonly accountId: string;
  readonly personId: string | null;
  readonly dueAt: Date;
  readonly change: Change;
}

/**
 * Changes of memories that a person has confirmed and may still undo. They are stored in the database, so a
 * change is applied even if the page is closed or the server restarts.
 * @param clock milliseconds since 1970
 */
export function createPendingChanges({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const { pendingChanges } = db.tables(createUndoTables);
  const { id, accountId, personId, dueAt, begunAt, change } = pendingChanges;

  /** The pending changes of an account, newest first, including those that are being applied. */
  const list = async (account: string): Promise<PendingChange[]> => {
    const rows = await orm
      .select({ id, change, dueAt })
      .from(pendingChanges)
      .where(eq(accountId, account))
      .orderBy(desc(dueAt), id);
    return rows.map(({ dueAt, ...row }) => ({
      ...row,
      remainingMs: Math.max(0, dueAt.getTime() - clock()),
    }));
  };

  return {
    list,

    /** @throws AppError `rate_limited` when the account has 20 pending changes */
    async add({ accountId: account, personId }: Reach, wanted: Change): Promise<string> {
      const row = {
        id: createSecret("wait_"),
        accountId: account,
        personId: personId ?? null,
        dueAt: new Date(clock() + UNDO_MS),
        begunAt: null,
        change: wanted,
      };
      // One transaction, so that two requests at once do not both take the last place.
      await db.transaction(async (tx) => {
        const pending = await tx.select({ id }).from(pendingChanges).where(eq(accountId, account));
        if (pending.length >= MAX_PENDING) {
          const message = "Too many changes are pending. Try again in a few seconds.";
          throw new AppError("rate_limited", message, { retryAfter: UNDO_MS / 1_000 });
        }
        await tx.insert(pendingChanges).values(row);
      });
      return row.id;
    },

    /** Cancels a change. Returns false if the server has begun to apply it. */
    async undo(account: string, wanted: string): Promise<boolean> {
      const undone = await orm
        .delete(pendingChanges)
        .where(and(eq(id, wanted), eq(accountId, account), isNull(begunAt)))
        .returning({ id });
      return undone.length > 0;
    },

    /** Claims the changes that are due, for this server alone. They can no longer be undone. */
    async begin(): Promise<Begun[]> {
      const now = clock();
      const isFree = or(isNull(begunAt), lte(begunAt, new Date(now - ABANDONED_MS)));
      return await orm
        .update(pendingChanges)
        .set({ begunAt: new Date(now) })
        .where(and(lte(dueAt, new Date(now)), isFree))
        .returning({ id, accountId, personId, dueAt, change });
    },

    /** Removes a change that has been applied or given up. */
    async end(done: string): Promise<void> {
      await orm.delete(pendingChanges).where(eq(id, done));
    },
  };
}

/** Milliseconds between two checks for due changes, such as those of a server that died. */
const CHECK_INTERVAL_MS = 30_000;
/** Milliseconds after the due time from which a change that fails is given up. */
const GIVE_UP_MS = 24 * 60 * 60 * 1_000;

export type Undoable = ReturnType<typeof createUndoable>;

/**
 * Changes of several memories that can be undone for ten seconds before they are applied. Applying a change
 * twice has the same effect as applying it once, so a change that a killed server began is applied again. A change in a
 * space is applied only if its person may still write there.
 * @param clock milliseconds since 1970
 * @param admit finds the spaces of an enabled account
 */
export function createUndoable({
  db,
  memories,
  clock,
  log,
  admit,
}: {
  db: Database;
  memories: ChangedMemories;
  clock: () => number;
  log: Log;
  admit: Spaces["admit"];
}) {
  const changes = createPendingChanges({ db, clock });
  /** Timers of the changes that this server applies later. */
  const timers = new Set<NodeJS.Timeout>();
  let applying: Promise<unknown> = Promise.resolve();

  /** Applies a change at once. Returns how many memories it has changed. @throws AppError `forbidden` */
  const applyNow = async (reach: Reach, change: Change): Promise<number> => {
    requireScope(reach, "memories:write");
    return await applyChange(memories, reach.accountId, change);
  };

  /** What the person of a waiting change reaches now. @throws AppError `forbidden` for a former member of the space */
  const reachOf = async ({ accountId, personId }: Begun): Promise<Reach> => {
    if (personId === null) return wholeAccount(accountId);
    const { spaces = [] } = (await admit(personId)) ?? {};
    const space = spaces.find((each) => each.id === accountId);
    if (space) return inSpace(wholeAccount(personId), space);
    throw new AppError("forbidden", "This person is no member of the space any more.");
  };

  const applyDueChanges = async (): Promise<void> => {
    for (const begun of await changes.begin()) {
      const { id, dueAt, change } = begun;
      try {
        await applyNow(await reachOf(begun), change);
        await changes.end(id);
      } catch (error) {
        const details = { kind: change.kind, reason: messageOf(error) };
        // A refused change would be refused again. After a failure of the server, the change is tried again for a
        // day. A pending change hides its memories and takes one of 20 places, so it must not stay forever.
        const isRefused = error instanceof AppError && error.status < 500;
        const isGivenUp = !isRefused && clock() - dueAt.getTime() >= GIVE_UP_MS;
        if (isGivenUp) log.error("waiting_change_lost", details);
        else log.warn("waiting_change_failed", details);
        if (isRefused || isGivenUp) await changes.end(id);
      }
    }
  };

  /** Applies the changes that are due. Never rejects: a change that fails is tried again later. */
  const applyDue = (): Promise<void> => {
    const done = applying.then(applyDueChanges).catch((error: unknown) => {
      log.warn("waiting_changes_failed", { reason: messageOf(error) });
    });
    applying = done;
    return done;
  };

  const timer = setInterval(() => void applyDue(), CHECK_INTERVAL_MS);
  timer.unref();

  return {
    applyNow,
    applyDue,
    list: changes.list,

    /** Cancels a change. Returns false if it is too late. @throws AppError `forbidden` */
    async undo(reach: Reach, wanted: string): Promise<boolean> {
      requireScope(reach, "memories:write");
      return await changes.undo(reach.accountId, wanted);
    },

    /**
     * Applies a change in ten seconds, unless it is undone. Returns its id.
     * @throws AppError `forbidden`, `rate_limited` when 20 are pending
     */
    async applyLater(reach: Reach, change: Change): Promise<string> {
      requireScope(reach, "memories:write");
      const id = await changes.add(reach, change);
      const due = setTimeout(() => {
        timers.delete(due);
        void applyDue();
      }, UNDO_MS);
      due.unref();
      timers.add(due);
      return id;
    },

    /** Waits for the changes that are being applied. Pending changes are applied after the next start. */
    async close(): Promise<void> {
      clearInterval(timer);
      for (const due of timers) clearTimeout(due);
      await applying;
    },
  };
}
