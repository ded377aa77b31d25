import type { Database } from "../db/database.ts";
import { AppError, messageOf } from "../errors.ts";
import { wholeAccount } from "../keys/reach.ts";
import type { Log } from "../log.ts";
import type { Memories } from "../memories/memories.ts";
import type { Change } from "./change.ts";
import { createPendingChanges, UNDO_MS } from "./pending-changes.ts";
import { removeSelected, retagged, tagSelected } from "./selected-memories.ts";

/** Milliseconds between two looks for what nobody else has carried out. */
const EVERY = 30_000;

export type Undoable = ReturnType<typeof createUndoable>;

/**
 * Changes of several memories that can be undone for ten seconds, before they are carried out. Doing one
 * twice does no more than doing it once, so one whose server was killed is done again.
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
  const timers = new Set<NodeJS.Timeout>();
  let running: Promise<unknown> = Promise.resolve();

  /** Does what a change says, at once. Returns how many memories it has changed. */
  const now = (accountId: string, change: Change): Promise<number> => {
    const { ids } = change;
    if (change.kind === "delete") return removeSelected(memories, accountId, ids);
    if (change.kind === "move") {
      return memories.moveThese(wholeAccount(accountId), ids, change.project);
    }
    return tagSelected(memories, accountId, ids, retagged(change));
  };

  const carryOutDue = async (): Promise<void> => {
    for (const { id, accountId, change } of await changes.begin()) {
      try {
        await now(accountId, change);
        await changes.end(id);
      } catch (error) {
        log.warn("waiting_change_failed", { kind: change.kind, reason: messageOf(error) });
        // What is refused would be refused again; what the server is not able to do is tried again later.
        if (error instanceof AppError && error.status < 500) await changes.end(id);
      }
    }
  };

  /** Carries out what is due. It never fails: what could not be done is begun again later. */
  const carryOut = (): Promise<void> => {
    const done = running.then(carryOutDue).catch((error: unknown) => {
      log.warn("waiting_changes_failed", { reason: messageOf(error) });
    });
    running = done;
    return done;
  };

  const sweep = setInterval(() => void carryOut(), EVERY);
  sweep.unref();

  return {
    now,
    carryOut,
    list: changes.list,
    undo: changes.undo,

    /** Has a change wait. @throws AppError `rate_limited` when too much waits already */
    async later(accountId: string, change: Change): Promise<void> {
      await changes.add(accountId, change);
      const timer = setTimeout(() => {
        timers.delete(timer);
        void carryOut();
      }, UNDO_MS);
      timer.unref();
      timers.add(timer);
    },

    /** Ends what is under way. What waits is carried out after the next start. */
    async close(): Promise<void> {
      clearInterval(sweep);
      for (const timer of timers) clearTimeout(timer);
      await running;
    },
  };
}
