import { and, asc, eq, inArray, or, sql } from "drizzle-orm";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import { sqliteDialect } from "../../../db/database.ts";
import { createLikenessTables, createLogTables } from "../database-tables.ts";
import type { createGroupCommit } from "../group-commit.ts";
import { type Likenesses, PAGE, parcelsOf, readInPages } from "./likenesses.ts";

const { likenesses, uncompared, comparisons } = createLikenessTables(sqliteDialect);
const { heads } = createLogTables(sqliteDialect);

/** The likenesses in the SQLite database of a data folder. Each transaction is short, since it blocks the main thread. */
export function createSqliteLikenesses(
  orm: BunSQLiteDatabase,
  commit: ReturnType<typeof createGroupCommit>,
): Likenesses {
  return {
    async all(table) {
      const { later, earlier, kind, changedAt } = likenesses;
      return readInPages((after) => {
        const isAfter = sql`(${later}, ${earlier}) > (${after.later}, ${after.earlier})`;
        return orm
          .select({ later, earlier, kind, changedAt })
          .from(likenesses)
          .where(and(eq(likenesses.table, table), isAfter))
          .orderBy(later, earlier)
          .limit(PAGE)
          .all();
      });
    },

    async state(table) {
      const mark = orm.select().from(comparisons).where(eq(comparisons.table, table)).get();
      const { number, ids } = uncompared;
      const parcel = orm
        .select({ number, ids })
        .from(uncompared)
        .where(eq(uncompared.table, table))
        .orderBy(asc(number))
        .limit(1)
        .get();
      return { comparedTo: mark?.position.comparedTo, parcel: parcel ?? null };
    },

    async note(table, toCompare, toDrop) {
      for (const ids of parcelsOf(toCompare)) {
        await commit((tx) => tx.insert(uncompared).values({ table, ids }).run());
      }
      for (const ids of parcelsOf(toDrop)) {
        const isIn = or(inArray(likenesses.later, ids), inArray(likenesses.earlier, ids));
        const isDropped = and(eq(likenesses.table, table), isIn);
        await commit((tx) => tx.delete(likenesses).where(isDropped).run());
      }
    },

    record: (table, found, done) =>
      commit((tx) => {
        if (!tx.select().from(heads).where(eq(heads.table, table)).get()) return false;
        for (const { kind, changedAt, ...pair } of found) {
          const target = [likenesses.table, likenesses.later, likenesses.earlier];
          tx.insert(likenesses)
            .values({ table, ...pair, kind, changedAt })
            .onConflictDoUpdate({ target, set: { kind, changedAt } })
            .run();
        }
        if ("parcel" in done) {
          const isDone = done.left.length === 0;
          const change = isDone
            ? tx.delete(uncompared)
            : tx.update(uncompared).set({ ids: [...done.left] });
          change.where(eq(uncompared.number, done.parcel)).run();
          return true;
        }
        tx.insert(comparisons)
          .values({ table, position: done })
          .onConflictDoUpdate({ target: comparisons.table, set: { position: done } })
          .run();
        return true;
      }),

    reset: (table) =>
      commit((tx) => {
        for (const each of [likenesses, uncompared, comparisons]) {
          tx.delete(each).where(eq(each.table, table)).run();
        }
      }),
  };
}
