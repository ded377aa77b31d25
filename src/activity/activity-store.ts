import { and, asc, count, desc, eq, gt, inArray, isNull, lt, lte, sql } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { type CountedAction, dayOf } from "./action.ts";
import { createActivityTables } from "./tables.ts";

/** Rows that one statement writes. */
const BATCH = 100;
/** Milliseconds between two batches of an import beyond which the second one begins a new import. */
const IMPORT_GAP_MS = 60_000;

/** Writes the counts of actions, and the setting that keeps questions. */
export function createActivityStore({ db }: { db: Database }) {
  const { activityDays, activityEvents, activitySettings } = db.tables(createActivityTables);

  const addToDays = async (tx: Orm, actions: readonly CountedAction[]) => {
    const rows = new Map<string, typeof activityDays.$inferInsert>();
    for (const { accountId, kind, source, agent, at, times, inVain, memories } of actions) {
      const key = { accountId, day: dayOf(at), kind, sourceId: source.id, agent: agent ?? "" };
      const name = JSON.stringify(Object.values(key));
      const row = rows.get(name);
      rows.set(name, {
        ...key,
        source: source.by,
        times: (row?.times ?? 0) + times,
        inVain: (row?.inVain ?? 0) + inVain,
        memories: (row?.memories ?? 0) + memories,
        lastAt: new Date(at),
      });
    }
    // Rows in the same order in every transaction prevent deadlocks between servers.
    const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    const { accountId, day, kind, sourceId, agent, times, inVain, memories } = activityDays;
    for (let from = 0; from < sorted.length; from += BATCH) {
      await tx
        .insert(activityDays)
        .values(sorted.slice(from, from + BATCH))
        .onConflictDoUpdate({
          target: [accountId, day, kind, sourceId, agent],
          set: {
            source: sql`excluded.source`,
            times: sql`${times} + excluded.times`,
            inVain: sql`${inVain} + excluded.in_vain`,
            memories: sql`${memories} + excluded.memories`,
            lastAt: sql`excluded.last_at`,
          },
        });
    }
  };

  /** Adds the counts of the import that goes on, and removes its row: an import is one row, however long it takes. */
  const withEarlier = async (tx: Orm, action: CountedAction): Promise<CountedAction> => {
    if (action.kind !== "imported") return action;
    const { accountId, kind, sourceId, agent, at } = activityEvents;
    const earlier = await tx
      .delete(activityEvents)
      .where(
        and(
          eq(accountId, action.accountId),
          eq(kind, action.kind),
          eq(sourceId, action.source.id),
          action.agent === null ? isNull(agent) : eq(agent, action.agent),
          gt(at, new Date(action.at - IMPORT_GAP_MS)),
        ),
      )
      .returning();
    const sumOf = (part: "times" | "memories") =>
      earlier.reduce((sum, row) => sum + row[part], action[part]);
    return { ...action, times: sumOf("times"), memories: sumOf("memories") };
  };

  const addEvents = async (tx: Orm, single: readonly CountedAction[]) => {
    const actions: CountedAction[] = [];
    for (const action of single) actions.push(await withEarlier(tx, action));
    const rows = actions.map(({ source: { id, by }, at, ...rest }) => ({
      ...rest,
      at: new Date(at),
      sourceId: id,
      source: by,
    }));
    for (let from = 0; from < rows.length; from += BATCH) {
      await tx.insert(activityEvents).values(rows.slice(from, from + BATCH));
    }
  };

  return {
    /** Adds actions within a transaction. The database ignores rows of accounts that do not exist. */
    async save(tx: Orm, actions: readonly CountedAction[]): Promise<void> {
      await addToDays(tx, actions);
      await addEvents(tx, actions);
    },

    /** When accounts began to keep questions. Accounts that do not keep them are missing. */
    async queriesSince(
      tx: Orm,
      accountIds: readonly string[],
    ): Promise<ReadonlyMap<string, number>> {
      const ofAccount = inArray(activitySettings.accountId, [...accountIds]);
      const rows = await tx.select().from(activitySettings).where(ofAccount);
      return new Map(rows.map((row) => [row.accountId, row.queriesSince.getTime()]));
    },

    /** Keeps questions since a time; null stops and deletes the kept questions. */
    async keepQueries(accountId: string, since: Date | null): Promise<void> {
      await db.transaction(async (tx) => {
        const ofAccount = eq(activitySettings.accountId, accountId);
        if (since !== null) {
          const row = { accountId, queriesSince: since };
          await tx.insert(activitySettings).values(row).onConflictDoNothing();
          return;
        }
        await tx.delete(activitySettings).where(ofAccount);
        await tx
          .update(activityEvents)
          .set({ query: null })
          .where(eq(activityEvents.accountId, accountId));
      });
      if (since === null) await db.expunge();
    },
  };
}

/** Rows that an account may have. The oldest are deleted first. */
const MAX_EVENTS = 2_000;
const MAX_DAY_ROWS = 20_000;
/** Rows that one statement deletes. */
const DELETED_AT_ONCE = 100;
const DAY = 86_400_000;

/** Deletes activity that is too old, or more than an account may have. */
export function createActivityPruning({ db: { orm, tables } }: { db: Database }) {
  const { activityDays, activityEvents } = tables(createActivityTables);
  const { id, at } = activityEvents;

  /** Events are written in the order of their times, give or take seconds, so the oldest have the lowest ids. */
  const removeOldEvents = async (before: Date): Promise<boolean> => {
    const first = orm.select({ id }).from(activityEvents).orderBy(asc(id)).limit(DELETED_AT_ONCE);
    const isOld = and(inArray(id, first), lt(at, before));
    return (await orm.delete(activityEvents).where(isOld).returning({ id })).length > 0;
  };

  const removeExcessEvents = async (): Promise<boolean> => {
    const { accountId } = activityEvents;
    const overfull = await orm
      .select({ accountId })
      .from(activityEvents)
      .groupBy(accountId)
      .having(gt(count(), MAX_EVENTS));
    for (const each of overfull) {
      const ofAccount = eq(accountId, each.accountId);
      const events = orm.select({ id }).from(activityEvents);
      const [first] = await events.where(ofAccount).orderBy(desc(id)).limit(1).offset(MAX_EVENTS);
      const oldest = orm
        .select({ id })
        .from(activityEvents)
        .where(and(ofAccount, lte(id, first?.id ?? 0)))
        .orderBy(asc(id))
        .limit(DELETED_AT_ONCE);
      await orm.delete(activityEvents).where(inArray(id, oldest));
    }
    return overfull.length > 0;
  };

  const { accountId, day } = activityDays;

  /** Removes days of accounts, each of which has at most a few hundred rows. */
  const removeDays = async (days: readonly { accountId: string; day: string }[]) => {
    for (const each of days) {
      const ofDay = and(eq(accountId, each.accountId), eq(day, each.day));
      await orm.delete(activityDays).where(ofDay);
    }
    return days.length > 0;
  };

  const removeOldDays = async (before: Date): Promise<boolean> => {
    const isOld = lt(day, dayOf(before.getTime()));
    return removeDays(
      await orm.select({ accountId, day }).from(activityDays).where(isOld).limit(1),
    );
  };

  const removeExcessDays = async (): Promise<boolean> =>
    removeDays(
      await orm
        .select({ accountId, day: sql<string>`min(${day})` })
        .from(activityDays)
        .groupBy(accountId)
        .having(gt(count(), MAX_DAY_ROWS)),
    );

  /**
   * Deletes one batch of activity that is older than `days` days, or more than an account may have.
   * @param now milliseconds since 1970
   * @returns whether there was any
   */
  return async (now: number, days: number): Promise<boolean> => {
    const before = new Date(now - days * DAY);
    // Finding accounts with too much reads whole indexes, so it waits until nothing is too old.
    return (
      (await removeOldEvents(before)) ||
      (await removeOldDays(before)) ||
      (await removeExcessEvents()) ||
      (await removeExcessDays())
    );
  };
}
