import { and, type Column, desc, eq, gte, inArray, isNotNull, lt, max, sum } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { QUESTIONS } from "./action.ts";
import { createActivityTables } from "./tables.ts";

/** The actions of one kind of a source and its agent. */
export type ActorCount = Awaited<
  ReturnType<ReturnType<typeof createActivityReports>["actors"]>
>[number];

export type ActivityEvent = ReturnType<
  typeof createActivityTables
>["activityEvents"]["$inferSelect"];

const total = (column: Column) => sum(column).mapWith(Number);

/** The actions of one kind on one day, in UTC. */
export type DayCount = Awaited<
  ReturnType<ReturnType<typeof createActivityReports>["daily"]>
>[number];

/** Reads the activity of an account. */
export function createActivityReports({ db }: { db: Database }) {
  const { orm } = db;
  const { activityDays, activityEvents } = db.tables(createActivityTables);

  return {
    /** The actions on each day since a day. */
    async daily(accountId: string, since: string) {
      const { day, kind, times, memories } = activityDays;
      return await orm
        .select({ day, kind, times: total(times), memories: total(memories) })
        .from(activityDays)
        .where(and(eq(activityDays.accountId, accountId), gte(day, since)))
        .groupBy(day, kind);
    },

    /** What each source and agent did on each day since a day. */
    async days(accountId: string, since: string) {
      const { sourceId, agent, kind, day, times, memories, lastAt } = activityDays;
      return await orm
        .select({ sourceId, agent, kind, day, times, memories, lastAt })
        .from(activityDays)
        .where(and(eq(activityDays.accountId, accountId), gte(day, since)));
    },

    /** The actions of each source and agent since a day. The agent is null if it is unknown. */
    async actors(accountId: string, since: string) {
      const { sourceId, agent, kind, day, source, times, inVain, memories, lastAt } = activityDays;
      const rows = await orm
        .select({
          sourceId,
          agent,
          kind,
          source: max(source),
          times: total(times),
          inVain: total(inVain),
          memories: total(memories),
          lastAt: max(lastAt),
        })
        .from(activityDays)
        .where(and(eq(activityDays.accountId, accountId), gte(day, since)))
        .groupBy(sourceId, agent, kind);
      return rows.map((row) => ({
        ...row,
        source: row.source ?? "",
        agent: row.agent || null,
        lastAt: row.lastAt ?? new Date(0),
      }));
    },

    /**
     * The latest events, newest first.
     * @param before the id of an event; only older events are returned
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

    /** The best memory of the last question that found any; null if there is none. */
    async lastFound(accountId: string): Promise<{ memoryId: string; at: Date } | null> {
      const { id, kind, memoryId, at } = activityEvents;
      const ofAccount = eq(activityEvents.accountId, accountId);
      const [row] = await orm
        .select({ memoryId, at })
        .from(activityEvents)
        .where(and(ofAccount, inArray(kind, [...QUESTIONS]), isNotNull(memoryId)))
        .orderBy(desc(id))
        .limit(1);
      return row?.memoryId ? { memoryId: row.memoryId, at: row.at } : null;
    },

    /** The id of the newest event of an account; 0 if there is none. */
    async newest(accountId: string): Promise<number> {
      const [row] = await orm
        .select({ id: max(activityEvents.id) })
        .from(activityEvents)
        .where(eq(activityEvents.accountId, accountId));
      return row?.id ?? 0;
    },
  };
}
