import { and, asc, count, eq, gt, inArray, isNull, lte, sql } from "drizzle-orm";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { sqliteDialect } from "../../db/database.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { createLogTables } from "./database-tables.ts";
import { createGroupCommit, dropCancelledEntries, type Transaction } from "./group-commit.ts";
import { createSqliteLikenesses } from "./likenesses/sqlite-likenesses.ts";
import { ANSWER_LIFETIME, AnswersTaken, accountOf, type LocalLog } from "./log.ts";
import { type Checkpoint, type Entry, usageOf } from "./records.ts";

const { entries, heads, checkpoints, currentTables, answers } = createLogTables(sqliteDialect);

/** Milliseconds between attempts to remove dropped entries from the files. */
const EXPUNGE_RETRY_MS = 1_000;
/**
 * Bytes and entries that one transaction deletes. SQLite overwrites them in the database and in its write-ahead log,
 * which blocks the main thread.
 */
const EXPUNGED_PER_COMMIT = { bytes: 1 << 20, entries: 500 };
/** Bytes of memories from which on the ids in an entry do not count. To read them, SQLite reads all pages before them. */
const LARGE = 1 << 16;

/** Joins an entry with the checkpoint that includes it, if there is one. */
const IS_INCLUDED = and(eq(checkpoints.table, entries.table), lte(entries.seq, checkpoints.upTo));

/** The columns of a `CurrentTable`. */
const CURRENT = {
  name: currentTables.name,
  model: sql<string | null>`nullif(${currentTables.model}, '')`,
};

/**
 * The log in the SQLite database of a data folder.
 * @param clock milliseconds since 1970
 */
export function createSqliteLog({
  db,
  clock = Date.now,
}: {
  db: SqliteDatabase;
  clock?: () => number;
}): LocalLog {
  // Synchronous, as a group commit requires: no other code runs during a transaction.
  const orm = drizzle({ client: db.sqlite });
  dropCancelledEntries(db);
  const commit = createGroupCommit(db, orm);

  const { truncate, deleteIncluded } = createExpunging(db, orm, commit);

  return {
    likenesses: createSqliteLikenesses(orm, commit),

    append: (table, entry) =>
      commit((tx) => append(tx, table, entry, clock()), entry.written?.byteLength),

    async entries(table) {
      const { seq, written, removed, leavesOldData } = entries;
      const rows = orm
        .select({ seq, written, removed, leavesOldData })
        .from(entries)
        .leftJoin(checkpoints, IS_INCLUDED)
        .where(and(eq(entries.table, table), isNull(checkpoints.table)))
        .orderBy(asc(seq))
        .all();
      // Earlier versions listed ids of rows: the first row has the memory's id, the others have "#" and a number.
      return rows.map((row) => ({
        ...row,
        removed: row.removed.filter((id) => !id.includes("#")),
      }));
    },

    async head(table) {
      const { seq, memories, bytes } = heads;
      const { base, version, files, upTo } = checkpoints;
      const row = orm
        .select({ seq, memories, bytes, checkpoint: { base, version, files, upTo } })
        .from(heads)
        .leftJoin(checkpoints, eq(checkpoints.table, heads.table))
        .where(eq(heads.table, table))
        .get();
      if (!row) return null;
      return {
        seq: row.seq,
        usage: usageOf(row.memories, row.bytes),
        checkpoint: row.checkpoint,
      };
    },

    // Every table with an entry or a checkpoint has a head.
    tables: async () => names(orm.select({ table: heads.table }).from(heads).all()),

    async unflushed() {
      const all = orm.selectDistinct({ table: entries.table }).from(entries);
      return names(all.leftJoin(checkpoints, IS_INCLUDED).where(isNull(checkpoints.table)).all());
    },

    size: async () => orm.select({ n: count() }).from(entries).get()?.n ?? 0,

    checkpoint: (table, checkpoint) => commit((tx) => record(tx, table, checkpoint)),

    async expunge() {
      await deleteIncluded();
      return truncate();
    },

    async forget(tables) {
      await commit((tx) => {
        drop(tx, tables);
        tx.delete(currentTables).where(inArray(currentTables.name, tables)).run();
      });
      await truncate();
    },

    async answer(accountId, keyHash, since) {
      const hasKey = and(eq(answers.accountId, accountId), eq(answers.keyHash, keyHash));
      const isNewer = gt(answers.createdAt, since);
      return orm.select().from(answers).where(and(hasKey, isNewer)).get() ?? null;
    },

    expired: async (now, limit) =>
      orm
        .select({ accountId: currentTables.accountId })
        .from(heads)
        .innerJoin(currentTables, eq(currentTables.name, heads.table))
        .where(lte(heads.expiresAt, now))
        .orderBy(asc(heads.expiresAt))
        .limit(limit)
        .all()
        .map(({ accountId }) => accountId),

    async setExpiry(table, seq, expiresAt) {
      const isNewest = and(eq(heads.table, table), eq(heads.seq, seq));
      const update = (tx: Transaction) => tx.update(heads).set({ expiresAt }).where(isNewest);
      const set = await commit((tx) => update(tx).returning({ table: heads.table }).get());
      return set !== undefined;
    },

    async current(accountId) {
      const isThis = eq(currentTables.accountId, accountId);
      return orm.select(CURRENT).from(currentTables).where(isThis).get() ?? null;
    },

    allCurrent: async () =>
      orm
        .select({ accountId: currentTables.accountId, ...CURRENT })
        .from(currentTables)
        .all(),

    async setCurrent(accountId, { name, model }) {
      const next = { name, model: model ?? "" };
      await commit((tx) => {
        tx.insert(currentTables)
          .values({ accountId, ...next })
          .onConflictDoUpdate({ target: currentTables.accountId, set: next })
          .run();
      });
    },
  };
}

/** The steps by which what is forgotten or included leaves the files. */
function createExpunging(
  db: SqliteDatabase,
  orm: BunSQLiteDatabase,
  commit: ReturnType<typeof createGroupCommit>,
) {
  let retry: ReturnType<typeof setTimeout> | undefined;
  const truncate = async (): Promise<boolean> => {
    clearTimeout(retry);
    const isTruncated = await db.exclusively(db.truncateLog);
    if (!isTruncated) retry = setTimeout(truncate, EXPUNGE_RETRY_MS).unref();
    return isTruncated;
  };

  const deleteIncluded = async () => {
    const written = sql`coalesce(length(${entries.written}), 0)`;
    const ids = sql`iif(${written} > ${LARGE}, 0, length(${entries.removed}))`;
    const bytes = sql<number>`${written} + ${ids}`;
    const included = orm
      .select({ seq: entries.seq, bytes })
      .from(entries)
      .innerJoin(checkpoints, IS_INCLUDED)
      .all();
    for (const part of inParts(included)) {
      await commit((tx) => tx.delete(entries).where(inArray(entries.seq, part)).run());
    }
  };

  return { truncate, deleteIncluded };
}

/** @returns the entry's number */
function append(
  tx: Transaction,
  table: string,
  { model, written, removed, leavesOldData, usage, expiresAt = null, answers: added }: Entry,
  at: number,
): number {
  const row = {
    table,
    leavesOldData,
    at,
    written: written && asBuffer(written),
    removed: [...removed],
  };
  const { seq } = tx.insert(entries).values(row).returning({ seq: entries.seq }).get();
  const head = { seq, ...usage };
  tx.insert(heads)
    .values({ table, ...head, expiresAt })
    .onConflictDoUpdate({ target: heads.table, set: { ...head, ...soonest(expiresAt) } })
    .run();
  const current = { accountId: accountOf(table), name: table, model };
  tx.insert(currentTables).values(current).onConflictDoNothing().run();
  for (const answer of added) {
    const isExpired = lte(answers.createdAt, answer.createdAt - ANSWER_LIFETIME);
    tx.delete(answers).where(isExpired).run();
    const insert = tx.insert(answers).values(answer).onConflictDoNothing();
    const made = insert.returning({ keyHash: answers.keyHash }).get();
    if (!made) throw new AnswersTaken([answer]);
  }
  return seq;
}

/** The change of a head's `expiresAt` by an entry. */
function soonest(expiresAt: number | null) {
  if (expiresAt === null) return {};
  return { expiresAt: sql`min(coalesce(${heads.expiresAt}, ${expiresAt}), ${expiresAt})` };
}

function record(tx: Transaction, table: string, checkpoint: Checkpoint): void {
  tx.insert(checkpoints)
    .values({ table, ...checkpoint })
    .onConflictDoUpdate({ target: checkpoints.table, set: checkpoint })
    .run();
  tx.insert(heads)
    .values({ table, seq: checkpoint.upTo, expiresAt: 0 })
    .onConflictDoNothing()
    .run();
}

function drop(tx: Transaction, tables: readonly string[]): void {
  for (const each of [entries, checkpoints, heads]) {
    tx.delete(each).where(inArray(each.table, tables)).run();
  }
}

/** The numbers of entries, divided into transactions. */
function* inParts(included: readonly { seq: number; bytes: number }[]): Generator<number[]> {
  let [part, size]: [number[], number] = [[], 0];
  for (const { seq, bytes } of included) {
    const isFull = part.length === EXPUNGED_PER_COMMIT.entries;
    if (isFull || (part.length > 0 && size + bytes > EXPUNGED_PER_COMMIT.bytes)) {
      yield part;
      [part, size] = [[], 0];
    }
    part.push(seq);
    size += bytes;
  }
  if (part.length > 0) yield part;
}

function names(rows: readonly { table: string }[]): string[] {
  return rows.map(({ table }) => table);
}

/** A view of the same bytes. They may be too many to copy. */
function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
