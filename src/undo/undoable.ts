import type { Database } from "../db/database.ts";
import { AppError, messageOf } from "../errors.ts";
import { wholeAccount } from "../keys/reach.ts";
import type { Log } from "../log.ts";
import type { Memories } from "../memories/rules/memories.ts";
import type { Change } from "./change.ts";
import { createPendingChanges, UNDO_MS } from "./pending-changes.ts";
import { removeSelected, retagged, tagSelected } from "./selected-memories.ts";

/** Milliseconds between two checks for due changes, such as those of a server that died. */
const CHECK_INTERVAL_MS = 30_000;
/** Milliseconds after the due time from which a change that fails is given up. */
const GIVE_UP_MS = 24 * 60 * 60 * 1_000;

export type Undoable = ReturnType<typeof createUndoable>;

/**
 * Changes of several memories that can be undone for ten seconds before they are applied. Applying a change
 * twice has the same effect as applying it once, so a change that a killed server began is applied again.
 * @param clock milliseconds since 1970
 */
export function createUndoable({
  db,
  memories,
  clock,
  log,
}: {
  db: Database;
  memories: Pick<Memories, "get" | "moveThese" | "remove" | "update">;
  clock: () => number;
  log: Log;
}) {
  const changes = createPendingChanges({ db, clock });
  /** Timers of the changes that this server applies later. */
  const timers = new Set<NodeJS.Timeout>();
  let applying: Promise<unknown> = Promise.resolve();

  /** Applies a change at once. Returns how many memories it has changed. */
  const applyNow = (accountId: string, change: Change): Promise<number> => {
    const { ids } = change;
    if (change.kind === "delete") return removeSelected(memories, accountId, ids);
    if (change.kind === "move") {
      return memories.moveThese(wholeAccount(accountId), ids, change.project);
    }
    return tagSelected(memories, accountId, ids, retagged(change));
  };

  const applyDueChanges = async (): Promise<void> => {
    for (const { id, accountId, dueAt, change } of await changes.begin()) {
      try {
        await applyNow(accountId, change);
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
    undo: changes.undo,

    /** Applies a change in ten seconds, unless it is undone. @throws AppError `rate_limited` when 20 are pending */
    async applyLater(accountId: string, change: Change): Promise<void> {
      await changes.add(accountId, change);
      const due = setTimeout(() => {
        timers.delete(due);
        void applyDue();
      }, UNDO_MS);
      due.unref();
      timers.add(due);
    },

    /** Waits for the changes that are being applied. Pending changes are applied after the next start. */
    async close(): Promise<void> {
      clearInterval(timer);
      for (const due of timers) clearTimeout(due);
      await applying;
    },
  };
}
