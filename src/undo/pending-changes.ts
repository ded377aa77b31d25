import { and, desc, eq, isNull, lte, or } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createSecret } from "../db/id.ts";
import { AppError } from "../errors.ts";
import type { Change } from "./change.ts";
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

/**
 * Changes of memories that a person has confirmed and may still undo. They are stored in the database, so a
 * change is applied even if the page is closed or the server restarts.
 * @param clock milliseconds since 1970
 */
export function createPendingChanges({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const { pendingChanges } = db.tables(createUndoTables);
  const { id, accountId, dueAt, begunAt, change } = pendingChanges;

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
    async add(account: string, wanted: Change): Promise<void> {
      const row = {
        id: createSecret("wait_"),
        accountId: account,
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
    async begin(): Promise<{ id: string; accountId: string; dueAt: Date; change: Change }[]> {
      const now = clock();
      const isFree = or(isNull(begunAt), lte(begunAt, new Date(now - ABANDONED_MS)));
      return await orm
        .update(pendingChanges)
        .set({ begunAt: new Date(now) })
        .where(and(lte(dueAt, new Date(now)), isFree))
        .returning({ id, accountId, dueAt, change });
    },

    /** Removes a change that has been applied or given up. */
    async end(done: string): Promise<void> {
      await orm.delete(pendingChanges).where(eq(id, done));
    },
  };
}
