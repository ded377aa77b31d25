import { and, asc, count, desc, eq, gt, inArray, lt, lte, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { dayOf } from "./action.ts";
import { createActivityTables } from "./tables.ts";

/** Rows that an account may have. The oldest are deleted first. */
const MAX_EVENTS = 2_000;
const MAX_DAY_ROWS = 20_000;
/** Rows that one statement deletes. */
const BATCH = 100;
const DAY = 86_400_000;

/**
 * Deletes one batch of activity that is older than `days` days, or more than an account may have.
 * @param now milliseconds since 1970
 * @returns whether there was any
 */
export async function removeOldActivity(db: Database, now: number, days: number): Promise<boolean> {
  const before = new Date(now - days * DAY);
  return (await removeOldEvents(db, before)) + (await removeOldDays(db, before)) > 0;
}

async function removeOldEvents(db: Database, before: Date): Promise<number> {
  const { orm } = db;
  const { activityEvents } = db.tables(createActivityTables);
  const { id, accountId, at } = activityEvents;
  const old = orm.select({ id }).from(activityEvents).where(lt(at, before)).limit(BATCH);
  let removed = await orm.delete(activityEvents).where(inArray(id, old)).returning({ id });
  const overfull = await orm
    .select({ accountId })
    .from(activityEvents)
    .groupBy(accountId)
    .having(gt(count(), MAX_EVENTS));
  for (const each of overfull) {
    const ofAccount = eq(accountId, each.accountId);
    const [first] = await orm
      .select({ id })
      .from(activityEvents)
      .where(ofAccount)
      .orderBy(desc(id))
      .limit(1)
      .offset(MAX_EVENTS);
    const oldest = orm
      .select({ id })
      .from(activityEvents)
      .where(and(ofAccount, lte(id, first?.id ?? 0)))
      .orderBy(asc(id))
      .limit(BATCH);
    const deletion = orm.delete(activityEvents).where(inArray(id, oldest));
    removed = [...removed, ...(await deletion.returning({ id }))];
  }
  return removed.length;
}

/** Deletes whole days of an account. A day has at most a few hundred rows. */
async function removeOldDays(db: Database, before: Date): Promise<number> {
  const { orm } = db;
  const { activityDays } = db.tables(createActivityTables);
  const { accountId, day } = activityDays;
  const old = lt(day, dayOf(before.getTime()));
  const [oldest] = await orm.select({ accountId, day }).from(activityDays).where(old).limit(1);
  const overfull = await orm
    .select({ accountId, day: sql<string>`min(${day})` })
    .from(activityDays)
    .groupBy(accountId)
    .having(gt(count(), MAX_DAY_ROWS));
  const due = oldest ? [oldest, ...overfull] : overfull;
  for (const each of due) {
    const ofDay = and(eq(accountId, each.accountId), eq(day, each.day));
    await orm.delete(activityDays).where(ofDay);
  }
  return due.length;
}
