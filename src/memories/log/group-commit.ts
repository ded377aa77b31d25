import { SQLiteError } from "bun:sqlite";
import { existsSync, readFileSync, rmSync } from "node:fs";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { isDiskError } from "../../system/disk-errors.ts";

/**
 * Removes entries that an earlier version of this program refused and could not remove, because the disk was full. It
 * wrote their numbers to a file, eight bytes each. The file is removed too.
 */
export function dropCancelledEntries({ sqlite }: SqliteDatabase): void {
  const path = `${sqlite.filename}-cancelled`;
  if (!existsSync(path)) return;
  const bytes = readFileSync(path);
  const remove = sqlite.query("DELETE FROM journal WHERE seq = ?");
  const amend = sqlite.query(
    "UPDATE heads SET seq = (SELECT coalesce(max(seq), 0) FROM journal WHERE account_id = name) WHERE seq = ?",
  );
  sqlite
    .transaction(() => {
      for (let at = 0; at + 8 <= bytes.length; at += 8) {
        const seq = bytes.readBigUInt64LE(at);
        if (seq === 0n) continue;
        remove.run(seq);
        amend.run(seq);
      }
    })
    .immediate();
  rmSync(path);
}

export type Transaction = Parameters<Parameters<BunSQLiteDatabase["transaction"]>[0]>[0];

/** Bytes after which a group takes no further change: writing them blocks the main thread for some 20 ms. */
const MAX_GROUP_BYTES = 4 << 20;
/** Milliseconds between attempts to void a failed transaction. */
const VOID_RETRY_MS = 1_000;

/**
 * Makes changes of the database durable in groups: the changes that are requested at one moment share one
 * transaction, and so one wait for the disk. They are made in the order of the requests.
 * @returns a function that commits one change of about so many bytes, and resolves when it is durable. The change must be
 *   synchronous: otherwise another statement of this process would become part of the transaction. If a change throws,
 *   the other changes of its group are still committed. If the disk fails, all of them fail.
 */
export function createGroupCommit(db: SqliteDatabase, orm: BunSQLiteDatabase) {
  const waiting: {
    readonly bytes: number;
    run(tx: Transaction): () => void;
    fail(error: unknown): void;
  }[] = [];
  /** Whether a failed transaction may reappear after a restart. */
  let mustVoid = false;
  let retry: ReturnType<typeof setTimeout> | undefined;

  const voidFailed = () => {
    clearTimeout(retry);
    if (!mustVoid) return;
    mustVoid = !db.eraseFailedTransaction();
    if (mustVoid) retry = setTimeout(voidLater, VOID_RETRY_MS).unref();
  };

  const voidLater = () => void db.exclusively(voidFailed);

  /** Takes the changes of the next group: at least one. */
  const takeGroup = () => {
    let bytes = 0;
    let taken = 0;
    while (taken < waiting.length && bytes < MAX_GROUP_BYTES) bytes += waiting[taken++]?.bytes ?? 0;
    return waiting.splice(0, taken);
  };

  const commitWaiting = () => {
    const group = takeGroup();
    if (waiting.length > 0) setImmediate(commitInTurn);
    const outcomes: (() => void)[] = [];
    try {
      const commitAll = (tx: Transaction) => {
        if (mustVoid) db.makeNextTransactionUnique();
        for (const { run, fail } of group) {
          try {
            outcomes.push(run(tx));
          } catch (error) {
            // A full disk fails the whole transaction.
            if (!db.sqlite.inTransaction || isDiskError(error)) throw error;
            outcomes.push(() => fail(error));
          }
        }
      };
      orm.transaction(commitAll, { behavior: "immediate" });
      // This transaction has overwritten the failed one.
      mustVoid = false;
    } catch (error) {
      // The transaction may have been written before it failed.
      mustVoid ||= error instanceof SQLiteError && isDiskError(error);
      for (const { fail } of group) fail(error);
      voidFailed();
      return;
    }
    for (const settle of outcomes) settle();
  };

  const commitInTurn = async () => {
    try {
      await db.exclusively(commitWaiting);
    } catch (error) {
      // The database gave no access. All waiting changes fail, and the next change starts a new group.
      for (const { fail } of waiting.splice(0)) fail(error);
    }
  };

  return <Result>(change: (tx: Transaction) => Result, bytes = 0): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(commitInTurn);
      waiting.push({
        bytes,
        run(tx) {
          const result = tx.transaction(change);
          return () => resolve(result);
        },
        fail: reject,
      });
    });
}
