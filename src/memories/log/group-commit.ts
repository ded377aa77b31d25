import { SQLiteError } from "bun:sqlite";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { isDiskError } from "../../disk-errors.ts";

export type Transaction = Parameters<Parameters<BunSQLiteDatabase["transaction"]>[0]>[0];

/** Milliseconds until it is tried again to void a transaction that failed. */
const VOID_AGAIN = 1_000;

/**
 * Makes changes of the database durable in groups: all that are asked for at one moment share one
 * transaction, and so one wait for the disk. They are made in the order in which they were asked for.
 * @returns commits one change, and resolves when it is durable. The change must not wait for
 *   anything: another statement of this process would become a part of the transaction. When it
 *   throws, the others of its group go on; when the disk fails, all of them fail.
 */
export function createGroupCommit(db: SqliteDatabase, orm: BunSQLiteDatabase) {
  let waiting: { run(tx: Transaction): () => void; fail(error: unknown): void }[] = [];
  /** Whether a transaction that failed may be there after a restart. */
  let mustVoid = false;
  let again: ReturnType<typeof setTimeout> | undefined;

  const voidFailed = () => {
    clearTimeout(again);
    if (!mustVoid) return;
    mustVoid = !db.voidFailed();
    if (mustVoid) again = setTimeout(voidLater, VOID_AGAIN).unref();
  };

  const voidLater = () => void db.exclusively(voidFailed);

  const commitWaiting = () => {
    const group = waiting;
    waiting = [];
    const outcomes: (() => void)[] = [];
    try {
      const commitAll = (tx: Transaction) => {
        if (mustVoid) db.differ();
        for (const { run, fail } of group) {
          try {
            outcomes.push(run(tx));
          } catch (error) {
            // A full disk ends the whole transaction.
            if (!db.sqlite.inTransaction || isDiskError(error)) throw error;
            outcomes.push(() => fail(error));
          }
        }
      };
      orm.transaction(commitAll, { behavior: "immediate" });
      // It was written over what failed before.
      mustVoid = false;
    } catch (error) {
      // It may have been written before it failed.
      mustVoid ||= error instanceof SQLiteError && isDiskError(error);
      for (const { fail } of group) fail(error);
      voidFailed();
      return;
    }
    for (const tell of outcomes) tell();
  };

  const commitInTurn = async () => {
    try {
      await db.exclusively(commitWaiting);
    } catch (error) {
      // The turn did not come. Who waits is told, and the next change asks for another one.
      for (const { fail } of waiting.splice(0)) fail(error);
    }
  };

  return <Result>(change: (tx: Transaction) => Result): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(commitInTurn);
      waiting.push({
        run(tx) {
          const result = tx.transaction(change);
          return () => resolve(result);
        },
        fail: reject,
      });
    });
}
