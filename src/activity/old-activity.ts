import { and, asc, count, desc, eq, gt, inArray, lt, lte, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { dayOf } from "./action.ts";
import { createActivityTables } from "./tables.ts";

/** Rows that an account may have. The oldest are deleted first. */
const MAX_EVENTS = 2_000;
const MAX_DAY_ROWS = 20_000;
/** Rows that one statement deletes. */
const DELETED_AT_ONCE = 100;
const DAY = 86_400_000;

/**
 * Deletes one batch of activity that is older than `days` days, or more than an account may have.
 * @param now milliseconds since 1970
 * @returns whether there was any
 */
export async function removeOldActivity(db: Database, now: number, days: number): Promise<boolean> {
  const before = new Date(now - days * DAY);
  // Finding accounts with too much reads whole indexes, so it waits until nothing is too old.
  return (
    (await removeOldEvents(db, before)) ||
    (await removeOldDays(db, before)) ||
    (await removeExcessEvents(db)) ||
    (await removeExcessDays(db))
  );
}

/** Events are written in the order of their times, give or take seconds, so the oldest have the lowest ids. */
async function removeOldEvents(db: Database, before: Date): Promise<boolean> {
  const { orm } = db;
  const { activityEvents } = db.tables(createActivityTables);
  const { id, at } = activityEvents;
  const first = orm.select({ id }).from(activityEvents).orderBy(asc(id)).limit(DELETED_AT_ONCE);
  const isOld = and(inArray(id, first), lt(at, before));
  return (await orm.delete(activityEvents).where(isOld).returning({ id })).length > 0;
}

async function removeExcessEvents(db: Database): Promise<boolean> {
  const { orm } = db;
  const { activityEvents } = db.tables(createActivityTables);
  const { id, accountId } = activityEvents;
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
      .limit(DELETED_AT_ONCE);
    await orm.delete(activityEvents).where(inArray(id, oldest));
  }
  return overfull.length > 0;
}

/** A day of an account. It has at most a few hundred rows. */
interface AccountDay {
  accountId: string;
  day: string;
}

async function removeOldDays(db: Database, before: Date): Promise<boolean> {
  const { activityDays } = db.tables(createActivityTables);
  const { accountId, day } = activityDays;
  const isOld = lt(day, dayOf(before.getTime()));
  const old = await db.orm.select({ accountId, day }).from(activityDays).where(isOld).limit(1);
  return removeDays(db, old);
}

async function removeExcessDays(db: Database): Promise<boolean> {
  const { activityDays } = db.tables(createActivityTables);
  const { accountId, day } = activityDays;
  const overfull = await db.orm
    .select({ accountId, day: sql<string>`min(${day})` })
    .from(activityDays)
    .groupBy(accountId)
    .having(gt(count(), MAX_DAY_ROWS));
  return removeDays(db, overfull);
}

async function removeDays(db: Database, days: readonly AccountDay[]): Promise<boolean> {
  const { activityDays } = db.tables(createActivityTables);
  for (const { accountId, day } of days) {
    const ofDay = and(eq(activityDays.accountId, accountId), eq(activityDays.day, day));
    await db.orm.delete(activityDays).where(ofDay);
  }
  return days.length > 0;
}
