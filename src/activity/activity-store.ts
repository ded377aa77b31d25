import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  lt,
  lte,
  max,
  sql,
  sum,
} from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { ASKING, type Counted, dayOf, type Kind } from "./action.ts";
import { createActivityTables } from "./tables.ts";

/** Rows that an account may have; the oldest go first. */
const MOST_EVENTS = 2_000;
const MOST_DAYS = 20_000;
/** Rows that are written or removed by one statement. */
const AT_ONCE = 100;
const DAY = 86_400_000;

/** What was done on a day. */
export interface DayCount {
  /** In UTC. */
  readonly day: string;
  readonly kind: Kind;
  readonly times: number;
  readonly memories: number;
}

/** What a source and its agent have done. */
export interface ActorCount {
  readonly sourceId: string;
  readonly source: string;
  /** Null where none is known. */
  readonly agent: string | null;
  readonly kind: Kind;
  readonly times: number;
  readonly inVain: number;
  readonly memories: number;
  readonly lastAt: Date;
}

export type ActivityEvent = ReturnType<
  typeof createActivityTables
>["activityEvents"]["$inferSelect"];

/** The tables of the activity. */
export function createActivityStore({ db }: { db: Database }) {
  const { orm } = db;
  const { activityDays, activityEvents, activitySettings } = db.tables(createActivityTables);

  const addToDays = async (tx: Orm, actions: readonly Counted[]) => {
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
    // In one order, so that no two servers wait for each other.
    const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    const { accountId, day, kind, sourceId, agent, times, inVain, memories } = activityDays;
    for (let from = 0; from < sorted.length; from += AT_ONCE) {
      await tx
        .insert(activityDays)
        .values(sorted.slice(from, from + AT_ONCE))
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

  const addEvents = async (tx: Orm, actions: readonly Counted[]) => {
    const rows = actions.map(({ source: { id, by }, at, ...rest }) => ({
      ...{ ...rest, at: new Date(at), sourceId: id, source: by },
    }));
    for (let from = 0; from < rows.length; from += AT_ONCE) {
      await tx.insert(activityEvents).values(rows.slice(from, from + AT_ONCE));
    }
  };

  const removeOldEvents = async (before: Date): Promise<number> => {
    const { id, accountId, at } = activityEvents;
    const old = orm.select({ id }).from(activityEvents).where(lt(at, before)).limit(AT_ONCE);
    let removed = await orm.delete(activityEvents).where(inArray(id, old)).returning({ id });
    const crowded = await orm
      .select({ accountId })
      .from(activityEvents)
      .groupBy(accountId)
      .having(gt(count(), MOST_EVENTS));
    for (const each of crowded) {
      const isTheirs = eq(accountId, each.accountId);
      const [first] = await orm
        .select({ id })
        .from(activityEvents)
        .where(isTheirs)
        .orderBy(desc(id))
        .limit(1)
        .offset(MOST_EVENTS);
      const oldest = orm
        .select({ id })
        .from(activityEvents)
        .where(and(isTheirs, lte(id, first?.id ?? 0)))
        .orderBy(asc(id))
        .limit(AT_ONCE);
      const gone = orm.delete(activityEvents).where(inArray(id, oldest));
      removed = [...removed, ...(await gone.returning({ id }))];
    }
    return removed.length;
  };

  /** Whole days of an account, of which there are few: each has at most some hundred rows. */
  const removeOldDays = async (before: Date): Promise<number> => {
    const { accountId, day } = activityDays;
    const old = lt(day, dayOf(before.getTime()));
    const [oldest] = await orm.select({ accountId, day }).from(activityDays).where(old).limit(1);
    const crowded = await orm
      .select({ accountId, day: sql<string>`min(${day})` })
      .from(activityDays)
      .groupBy(accountId)
      .having(gt(count(), MOST_DAYS));
    const gone = oldest ? [oldest, ...crowded] : crowded;
    for (const each of gone) {
      const isIt = and(eq(accountId, each.accountId), eq(day, each.day));
      await orm.delete(activityDays).where(isIt);
    }
    return gone.length;
  };

  return {
    /** Adds actions in a transaction; those of accounts that are not there are left out. */
    async save(tx: Orm, actions: readonly Counted[]): Promise<void> {
      await addToDays(tx, actions);
      await addEvents(tx, actions);
    },

    /** Since when accounts keep what is asked; those that don't are missing. */
    async queriesSince(
      tx: Orm,
      accountIds: readonly string[],
    ): Promise<ReadonlyMap<string, number>> {
      const isTheirs = inArray(activitySettings.accountId, [...accountIds]);
      const rows = await tx.select().from(activitySettings).where(isTheirs);
      return new Map(rows.map((row) => [row.accountId, row.queriesSince.getTime()]));
    },

    /** Keeps what is asked from a moment on; null to keep nothing of it and remove what there is. */
    async keepQueries(accountId: string, since: Date | null): Promise<void> {
      await db.transaction(async (tx) => {
        const isTheirs = eq(activitySettings.accountId, accountId);
        if (since !== null) {
          const row = { accountId, queriesSince: since };
          await tx.insert(activitySettings).values(row).onConflictDoNothing();
          return;
        }
        await tx.delete(activitySettings).where(isTheirs);
        await tx
          .update(activityEvents)
          .set({ query: null })
          .where(eq(activityEvents.accountId, accountId));
      });
      if (since === null) await db.expunge();
    },

    /** What was done on each day since one of them. */
    async daily(accountId: string, since: string): Promise<DayCount[]> {
      const { day, kind, times, memories } = activityDays;
      const rows = await orm
        .select({ day, kind, times: sum(times), memories: sum(memories) })
        .from(activityDays)
        .where(and(eq(activityDays.accountId, accountId), gte(day, since)))
        .groupBy(day, kind);
      return rows.map((row) => ({
        ...row,
        times: Number(row.times),
        memories: Number(row.memories),
      }));
    },

    /** What each source and agent has done since a day. */
    async actors(accountId: string, since: string): Promise<ActorCount[]> {
      const { sourceId, agent, kind, day, source, times, inVain, memories, lastAt } = activityDays;
      const rows = await orm
        .select({
          ...{ sourceId, agent, kind, source: max(source), times: sum(times) },
          ...{ inVain: sum(inVain), memories: sum(memories), lastAt: max(lastAt) },
        })
        .from(activityDays)
        .where(and(eq(activityDays.accountId, accountId), gte(day, since)))
        .groupBy(sourceId, agent, kind);
      return rows.map((row) => ({
        ...{ sourceId: row.sourceId, source: row.source ?? "", agent: row.agent || null },
        ...{ kind: row.kind, times: Number(row.times), inVain: Number(row.inVain) },
        ...{ memories: Number(row.memories), lastAt: row.lastAt ?? new Date(0) },
      }));
    },

    /**
     * What was done last, the newest first.
     * @param before the id of an event: only older ones
     */
    list: async (
      accountId: string,
      { limit, before = null }: { limit: number; before?: number | null },
    ): Promise<ActivityEvent[]> =>
      await orm
        .select()
        .from(activityEvents)
        .where(
          and(
            eq(activityEvents.accountId, accountId),
            before === null ? undefined : lt(activityEvents.id, before),
          ),
        )
        .orderBy(desc(activityEvents.id))
        .limit(limit),

    /** The best memory of the last question that found any; null where there is none. */
    async lastFound(accountId: string): Promise<{ memoryId: string; at: Date } | null> {
      const { id, kind, memoryId, at } = activityEvents;
      const isTheirs = eq(activityEvents.accountId, accountId);
      const [row] = await orm
        .select({ memoryId, at })
        .from(activityEvents)
        .where(and(isTheirs, inArray(kind, [...ASKING]), isNotNull(memoryId)))
        .orderBy(desc(id))
        .limit(1);
      return row?.memoryId ? { memoryId: row.memoryId, at: row.at } : null;
    },

    /** The id of the newest event of an account; 0 where there is none. */
    async newest(accountId: string): Promise<number> {
      const [row] = await orm
        .select({ id: max(activityEvents.id) })
        .from(activityEvents)
        .where(eq(activityEvents.accountId, accountId));
      return row?.id ?? 0;
    },

    /**
     * Removes some of what is older than so many days, and of what is more than an account may have.
     * Returns whether there was any.
     */
    async prune(now: number, days: number): Promise<boolean> {
      const before = new Date(now - days * DAY);
      return (await removeOldEvents(before)) + (await removeOldDays(before)) > 0;
    },
  };
}
