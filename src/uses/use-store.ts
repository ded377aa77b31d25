import { and, count, eq, gt, gte, inArray, max, or, sql } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import type { MemoryRow } from "../memories/model/rows.ts";
import { createPause } from "../timing/pause.ts";
import { createUseTables } from "./tables.ts";
import type { UseCounts } from "./use-counts.ts";

/** Rows that one statement reads. */
const PAGE = 10_000;

/** What happened to a memory. */
export interface MemoryUse {
  readonly row: Pick<MemoryRow, "id" | "source" | "agentId" | "createdAt">;
  readonly counts: UseCounts;
}

/** Writes and reads how often memories were found, recalled and used. */
export function createUseStore({ db }: { db: Database }) {
  const { orm } = db;
  const { memoryUses, useSettings } = db.tables(createUseTables);
  const { accountId: owner, memoryId, found, recalled, used } = memoryUses;
  const { foundAt, recalledAt, usedAt, createdAt } = memoryUses;
  const ofMemories = (accountId: string, ids: readonly string[]) =>
    and(eq(owner, accountId), inArray(memoryId, [...ids]));

  return {
    ...createUseLists(db),

    /** Adds counts within a transaction. The database ignores those of accounts that count none. */
    async add(tx: Orm, accountId: string, uses: readonly MemoryUse[]): Promise<void> {
      const counted = uses.filter(({ counts }) => counts.found + counts.recalled + counts.changed);
      if (counted.length > 0) {
        await tx
          .insert(memoryUses)
          .values(counted.map((use) => ({ accountId, ...toRow(use) })))
          .onConflictDoUpdate({
            target: [owner, memoryId],
            set: {
              found: sql`${found} + excluded.found`,
              recalled: sql`${recalled} + excluded.recalled`,
              used: sql`${used} + excluded.used`,
              foundAt: sql`coalesce(excluded.found_at, ${foundAt})`,
              recalledAt: sql`coalesce(excluded.recalled_at, ${recalledAt})`,
              usedAt: sql`coalesce(excluded.used_at, ${usedAt})`,
            },
          });
      }
      const opened = uses.filter(
        ({ counts }) => counts.opened > 0 && counts.found + counts.recalled === 0,
      );
      const alike = Map.groupBy(opened, ({ counts }) => `${counts.opened} ${counts.openedAt}`);
      for (const same of alike.values()) {
        const { opened: times = 0, openedAt = 0 } = same[0]?.counts ?? {};
        const ids = same.map(({ row }) => row.id);
        // Opening a memory is a use only if it was found before.
        await tx
          .update(memoryUses)
          .set({ used: sql`${used} + ${times}`, usedAt: openedAt })
          .where(and(ofMemories(accountId, ids), gt(sql`${found} + ${recalled}`, 0)));
      }
    },

    /** Forgets the uses of memories. */
    async forget(accountId: string, ids: readonly string[]): Promise<void> {
      await orm.delete(memoryUses).where(ofMemories(accountId, ids));
    },

    /** When an account began to count; null if it counts none. */
    async since(accountId: string): Promise<Date | null> {
      const ofAccount = eq(useSettings.accountId, accountId);
      const [row] = await orm.select().from(useSettings).where(ofAccount);
      if (row) return row.since;
      const [account] = await orm
        .select({ madeAt: sql<number>`created_at` })
        .from(sql`accounts`)
        .where(sql`id = ${accountId}`);
      return account ? new Date(Number(account.madeAt)) : null;
    },

    /** Counts since a time; null stops and deletes the counts. */
    async setSince(accountId: string, since: Date | null): Promise<void> {
      await db.transaction(async (tx) => {
        await tx
          .insert(useSettings)
          .values({ accountId, since })
          .onConflictDoUpdate({ target: useSettings.accountId, set: { since } });
        if (since === null) await tx.delete(memoryUses).where(eq(owner, accountId));
      });
      if (since === null) await db.expunge();
    },

    /** The counts of memories; those without are missing. */
    async of(accountId: string, ids: readonly string[]) {
      const rows = await orm
        .select({ id: memoryId, found, recalled, used, foundAt, recalledAt, usedAt })
        .from(memoryUses)
        .where(ofMemories(accountId, ids));
      return new Map(rows.map(({ id, ...counts }) => [id, counts]));
    },

    /** How many memories of each source and agent, written since a time, were of use. */
    async ofUse(accountId: string, time: number) {
      const { sourceId, agent } = memoryUses;
      return await orm
        .select({ sourceId, agent, memories: count() })
        .from(memoryUses)
        .where(and(eq(owner, accountId), gte(createdAt, time)))
        .groupBy(sourceId, agent);
    },
  };
}

/** Reads what may be said of all of an account's memories, in pages. */
function createUseLists(db: Database) {
  const { orm } = db;
  const { memoryUses } = db.tables(createUseTables);
  const { accountId: owner, memoryId, found, recalled, foundAt, recalledAt, usedAt } = memoryUses;
  const times = sql<string>`CAST(${found} + ${recalled} AS text)`.as("times");
  const joined = sql.raw(db.dialect.name === "sqlite" ? "group_concat" : "string_agg");

  /** Ids and times found after an id, as one text instead of a row each, which is four times as fast; and the last id. */
  const pageOfTimes = async (accountId: string, after: string) => {
    const page = orm
      .select({ id: memoryId, times })
      .from(memoryUses)
      .where(and(eq(owner, accountId), gt(memoryId, after), gt(sql`${found} + ${recalled}`, 0)))
      .orderBy(memoryId)
      .limit(PAGE)
      .as("page");
    const all = sql<string | null>`${joined}(${page.id} || ' ' || ${page.times}, ' ')`;
    const [row] = await orm.select({ all, last: max(page.id) }).from(page);
    return row ?? { all: null, last: null };
  };

  /** Of the ids after an id, those used since a time, as one text; and the last id. */
  const pageUsedSince = async (accountId: string, time: number, after: string) => {
    const isRecent = or(gte(foundAt, time), gte(recalledAt, time), gte(usedAt, time));
    const page = orm
      .select({
        id: memoryId,
        recent: sql<string | null>`CASE WHEN ${isRecent} THEN ${memoryId} END`.as("recent"),
      })
      .from(memoryUses)
      .where(and(eq(owner, accountId), gt(memoryId, after)))
      .orderBy(memoryId)
      .limit(PAGE)
      .as("page");
    const ids = sql<string | null>`${joined}(${page.recent}, ' ')`;
    const [row] = await orm.select({ ids, last: max(page.id) }).from(page);
    return row ?? { ids: null, last: null };
  };

  return {
    /** How often the memories that were found or recalled were. */
    async timesFound(accountId: string): Promise<Map<string, number>> {
      const counts = new Map<string, number>();
      const pause = createPause();
      for (let last: string | null = ""; last !== null; ) {
        const page = await pageOfTimes(accountId, last);
        const words = page.all?.split(" ") ?? [];
        for (let at = 0; at < words.length; at += 2) {
          counts.set(words[at] ?? "", Number(words[at + 1]));
        }
        last = page.last;
        await pause();
      }
      return counts;
    },

    /** Ids of the memories that were found, recalled or used since a time. */
    async usedSince(accountId: string, time: number): Promise<Set<string>> {
      const recent = new Set<string>();
      const pause = createPause();
      for (let last: string | null = ""; last !== null; ) {
        const page = await pageUsedSince(accountId, time, last);
        for (const id of page.ids?.split(" ") ?? []) recent.add(id);
        last = page.last;
        await pause();
      }
      return recent;
    },
  };
}

function toRow({ row, counts }: MemoryUse) {
  const isFound = counts.found + counts.recalled > 0;
  const opened = isFound ? counts.opened : 0;
  return {
    memoryId: row.id,
    sourceId: row.source?.id ?? "",
    agent: row.agentId ?? "",
    createdAt: row.createdAt,
    found: counts.found,
    recalled: counts.recalled,
    used: counts.changed + opened,
    foundAt: counts.foundAt || null,
    recalledAt: counts.recalledAt || null,
    usedAt: Math.max(counts.changedAt, isFound ? counts.openedAt : 0) || null,
  };
}
