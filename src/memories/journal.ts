import { SQLiteError } from "bun:sqlite";
import { and, asc, count, eq, inArray, lte, max } from "drizzle-orm";
import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Database } from "../db/database.ts";
import { isOfDisk } from "../disk-errors.ts";
import { openCancelledEntries } from "./cancelled-entries.ts";

/**
 * The redo journal: what was written to each table since its last checkpoint. LanceDB never calls
 * fsync; this database does, so an answered write survives a power cut here.
 */
export const journalEntries = sqliteTable("journal", {
  seq: integer().primaryKey({ autoIncrement: true }),
  /** The name of the table, at first that of its account. */
  table: text("account_id").notNull(),
  /** Rows added or replaced, as an Arrow IPC stream. */
  written: blob({ mode: "buffer" }),
  /** Ids of rows removed. */
  removed: text({ mode: "json" }).$type<string[]>().notNull(),
});

/** Per table: its state that is known to be on the disk. */
export const checkpoints = sqliteTable("checkpoints", {
  table: text("account_id").primaryKey(),
  version: integer().notNull(),
  /** All files of the table at that version, relative to its folder. LanceDB never changes one. */
  files: text({ mode: "json" }).$type<string[]>().notNull(),
  /** Whether those files still hold something that was deleted or replaced. */
  hasRemains: integer("has_remains", { mode: "boolean" }).notNull(),
});

/** Milliseconds until it is tried again to void a transaction that failed. */
const VOID_AGAIN = 1_000;

/** One group commit. */
export interface Entry {
  written: Uint8Array | null;
  removed: string[];
  /** Runs in the transaction that makes the entry durable. */
  alongside: readonly (() => void)[];
}

export interface Checkpoint {
  version: number;
  files: string[];
  hasRemains: boolean;
}

export type Journal = ReturnType<typeof createJournal>;

/** The journal and checkpoints of all tables. */
export function createJournal({ db }: { db: Database }) {
  const { orm } = db;
  const cancelled = openCancelledEntries(`${db.sqlite.filename}-cancelled`);
  const forgetCancelled = () =>
    cancelled.keepOnly(
      (seq) =>
        orm.select().from(journalEntries).where(eq(journalEntries.seq, seq)).get() !== undefined,
    );
  forgetCancelled();
  let waiting: (Entry & {
    table: string;
    resolve(seq: number): void;
    reject(error: unknown): void;
  })[] = [];

  /** Whether a transaction that failed may be there after a restart. */
  let mustVoid = false;
  let again: ReturnType<typeof setTimeout> | undefined;
  const voidFailed = () => {
    clearTimeout(again);
    if (!mustVoid) return;
    mustVoid = !db.voidFailed();
    if (mustVoid) again = setTimeout(voidFailed, VOID_AGAIN).unref();
  };

  /** One transaction, and so one wait for the disk, for all tables that commit at this moment. */
  const flush = () => {
    const group = waiting;
    waiting = [];
    const answers: (() => void)[] = [];
    try {
      orm.transaction((tx) => {
        for (const { table, written, removed, alongside, resolve, reject } of group) {
          try {
            // One that breaks a rule must not take those of other tables with it.
            const { seq } = tx.transaction((savepoint) => {
              for (const write of alongside) write();
              const row = { table, written: written && asBuffer(written), removed };
              return savepoint
                .insert(journalEntries)
                .values(row)
                .returning({ seq: journalEntries.seq })
                .get();
            });
            answers.push(() => resolve(seq));
          } catch (error) {
            // A full disk ends the whole transaction.
            if (!db.sqlite.inTransaction) throw error;
            answers.push(() => reject(error));
          }
        }
      });
      mustVoid = false;
      for (const answer of answers) answer();
    } catch (error) {
      // It may have been written before it failed.
      mustVoid ||= error instanceof SQLiteError && isOfDisk(error);
      for (const { reject } of group) reject(error);
      voidFailed();
    }
  };

  return {
    /** Makes an entry durable and returns its number. */
    append(table: string, entry: Entry): Promise<number> {
      return new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ ...entry, table, resolve, reject });
      });
    },

    /** Takes back an entry whose write failed in the table, also when the disk is full. */
    cancel(seq: number, takeBack: () => void = () => {}): void {
      try {
        orm.transaction((tx) => {
          takeBack();
          tx.delete(journalEntries).where(eq(journalEntries.seq, seq)).run();
        });
      } catch {
        cancelled.add(seq);
      }
    },

    /** What was written since the table's checkpoint, oldest first. */
    entries: (table: string): { written: Uint8Array | null; removed: string[] }[] =>
      orm
        .select({
          seq: journalEntries.seq,
          written: journalEntries.written,
          removed: journalEntries.removed,
        })
        .from(journalEntries)
        .where(eq(journalEntries.table, table))
        .orderBy(asc(journalEntries.seq))
        .all()
        .filter(({ seq }) => !cancelled.has(seq)),

    /** How many entries of all tables no checkpoint includes yet. */
    size: (): number => orm.select({ n: count() }).from(journalEntries).get()?.n ?? 0,

    /** The number of the table's newest entry, 0 when it has none. */
    lastSeq: (table: string): number =>
      orm
        .select({ seq: max(journalEntries.seq) })
        .from(journalEntries)
        .where(eq(journalEntries.table, table))
        .get()?.seq ?? 0,

    checkpoint: (table: string): Checkpoint | null =>
      orm
        .select({
          version: checkpoints.version,
          files: checkpoints.files,
          hasRemains: checkpoints.hasRemains,
        })
        .from(checkpoints)
        .where(eq(checkpoints.table, table))
        .get() ?? null,

    /**
     * Records that a state is on the disk, and drops the entries that it includes.
     * @returns whether they are in no file any more; another process that reads may prevent it
     */
    recordCheckpoint(table: string, checkpoint: Checkpoint, upTo: number): boolean {
      orm.transaction((tx) => {
        tx.insert(checkpoints)
          .values({ table, ...checkpoint })
          .onConflictDoUpdate({ target: checkpoints.table, set: checkpoint })
          .run();
        tx.delete(journalEntries)
          .where(and(eq(journalEntries.table, table), lte(journalEntries.seq, upTo)))
          .run();
      });
      forgetCancelled();
      // Until then the write-ahead log still has what was dropped.
      return db.truncateLog();
    },

    /** Tables that have work left from an earlier process. */
    unfinished: (): string[] => [
      ...new Set(
        [
          ...orm.selectDistinct({ id: journalEntries.table }).from(journalEntries).all(),
          ...orm
            .select({ id: checkpoints.table })
            .from(checkpoints)
            .where(eq(checkpoints.hasRemains, true))
            .all(),
        ].map(({ id }) => id),
      ),
    ],

    /** Drops all that is known of tables. */
    forget(names: readonly string[]): void {
      orm.transaction((tx) => {
        tx.delete(journalEntries).where(inArray(journalEntries.table, names)).run();
        tx.delete(checkpoints).where(inArray(checkpoints.table, names)).run();
      });
      db.truncateLog();
    },
  };
}

/** The same bytes, not a copy: they may be many. */
function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
