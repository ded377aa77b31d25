import { and, desc, eq, isNull, lte, or } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";
import type { Change } from "./change.ts";
import { createUndoTables } from "./tables.ts";

/** Milliseconds that a change waits, in which it can be undone. */
export const UNDO_MS = 10_000;
/** Milliseconds after which one that was begun is begun again: who began it has been killed. */
const STUCK = 60_000;
/** Changes of one account that wait. */
const MOST = 20;

/** A change that waits. */
export interface PendingChange {
  readonly id: string;
  readonly change: Change;
  /** Milliseconds in which it can be undone. */
  readonly left: number;
}

/**
 * Changes of memories that somebody has confirmed and may still undo. They are in the database, so that what
 * was confirmed is carried out though its page, or the server, has gone meanwhile.
 * @param clock milliseconds since 1970
 */
export function createPendingChanges({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const { pendingChanges } = db.tables(createUndoTables);
  const { id, accountId, dueAt, begunAt, change } = pendingChanges;

  /** The newest first; what is being carried out is among them. */
  const list = async (account: string): Promise<PendingChange[]> => {
    const rows = await orm
      .select({ id, change, dueAt })
      .from(pendingChanges)
      .where(eq(accountId, account))
      .orderBy(desc(dueAt), id);
    return rows.map(({ dueAt, ...row }) => ({
      ...row,
      left: Math.max(0, dueAt.getTime() - clock()),
    }));
  };

  return {
    list,

    /** @throws AppError `rate_limited` when too much waits already */
    async add(account: string, wanted: Change): Promise<void> {
      if ((await list(account)).length >= MOST) {
        const message = "Too much waits to be carried out: try again in some seconds.";
        throw new AppError("rate_limited", message, { retryAfter: UNDO_MS / 1_000 });
      }
      await orm.insert(pendingChanges).values({
        id: createSecret("wait_"),
        accountId: account,
        dueAt: new Date(clock() + UNDO_MS),
        begunAt: null,
        change: wanted,
      });
    },

    /** Has a change never be carried out. Returns false when that has begun. */
    async undo(account: string, wanted: string): Promise<boolean> {
      const undone = await orm
        .delete(pendingChanges)
        .where(and(eq(id, wanted), eq(accountId, account), isNull(begunAt)))
        .returning({ id });
      return undone.length > 0;
    },

    /** Takes what is due, to be carried out; of several servers, one gets it. It can't be undone any more. */
    async begin(): Promise<{ id: string; accountId: string; change: Change }[]> {
      const now = clock();
      const isFree = or(isNull(begunAt), lte(begunAt, new Date(now - STUCK)));
      return await orm
        .update(pendingChanges)
        .set({ begunAt: new Date(now) })
        .where(and(lte(dueAt, new Date(now)), isFree))
        .returning({ id, accountId, change });
    },

    /** Forgets what has been carried out. */
    async end(done: string): Promise<void> {
      await orm.delete(pendingChanges).where(eq(id, done));
    },
  };
}
