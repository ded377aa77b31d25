import {
  and,
  asc,
  desc,
  eq,
  gt,
  gte,
  inArray,
  lt,
  lte,
  max,
  notInArray,
  type SQL,
  sql,
} from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { Entry } from "./entry.ts";
import { EVENTS, isEvent, isForeign, type SecurityEvent } from "./events.ts";
import { securityEvents } from "./tables.ts";

/** Rows of what strangers do; the oldest go first, and never for the sake of the others. */
const MOST_FOREIGN = 50_000;
/** Rows of what one account does. */
const MOST_OF_ACCOUNT = 10_000;

/** Rows that are removed in one go: about a millisecond's work. */
const AT_ONCE = 200;

const FOREIGN: readonly SecurityEvent[] = Object.keys(EVENTS).filter(isEvent).filter(isForeign);

/** An event with its count, and the row that it has already. */
export interface Row extends Omit<Entry, "amount"> {
  amount: number | null;
  times: number;
  id: number | null;
}

/** An event as the table has it. */
export type SecurityRecord = typeof securityEvents.$inferSelect;

/** Which events are wanted; null for any. */
export interface EventFilter {
  readonly event?: SecurityEvent | null;
  readonly address?: string | null;
  readonly from?: Date | null;
  /** Not this moment itself. */
  readonly until?: Date | null;
}

/** The table of events. */
export function createEventStore({ db }: { db: Database }) {
  const { orm } = db;

  const matching = (accountId: string | null, { event, address, from, until }: EventFilter) =>
    and(
      accountId === null ? undefined : eq(securityEvents.accountId, accountId),
      event ? eq(securityEvents.event, event) : undefined,
      address ? eq(securityEvents.address, address) : undefined,
      from ? gte(securityEvents.at, from) : undefined,
      until ? lt(securityEvents.at, until) : undefined,
    );

  /** Removes rows that fit a condition, the oldest first, so many at once that nobody waits. */
  const removeOldest = (condition: SQL | undefined): number => {
    const oldest = orm
      .select({ id: securityEvents.id })
      .from(securityEvents)
      .where(condition)
      .orderBy(asc(securityEvents.id))
      .limit(AT_ONCE);
    return orm
      .delete(securityEvents)
      .where(inArray(securityEvents.id, oldest))
      .returning({ id: securityEvents.id })
      .all().length;
  };

  /** Removes all but the newest rows that fit a condition. */
  const keepNewest = (most: number, condition: SQL | undefined): number => {
    const first = orm
      .select({ id: securityEvents.id })
      .from(securityEvents)
      .where(condition)
      .orderBy(desc(securityEvents.id))
      .limit(1)
      .offset(most)
      .get();
    return first ? removeOldest(and(condition, lte(securityEvents.id, first.id))) : 0;
  };

  return {
    /** Adds rows, or counts on in those that are there, in one transaction. Returns their ids. */
    save: (rows: readonly Row[]): (number | null)[] =>
      orm.transaction(
        (tx) =>
          rows.map(({ id, at, times, amount, ...rest }) => {
            if (id !== null) {
              const isThis = eq(securityEvents.id, id);
              tx.update(securityEvents).set({ times, amount }).where(isThis).run();
              return id;
            }
            const row = { ...rest, times, amount, at: new Date(at) };
            return (
              tx.insert(securityEvents).values(row).returning({ id: securityEvents.id }).get()
                ?.id ?? null
            );
          }),
        { behavior: "immediate" },
      ),

    /**
     * Events, the newest first.
     * @param accountId whose; null for all, which is for the owner of the server alone
     * @param before the id of an event: only older ones
     */
    list(
      accountId: string | null,
      filter: EventFilter,
      { limit, before = null }: { limit: number; before?: number | null },
    ): SecurityRecord[] {
      return orm
        .select()
        .from(securityEvents)
        .where(
          and(
            matching(accountId, filter),
            before === null ? undefined : lt(securityEvents.id, before),
          ),
        )
        .orderBy(desc(securityEvents.id))
        .limit(limit)
        .all();
    },

    /** The id of the newest event; 0 when there is none. */
    newest: (): number =>
      orm
        .select({ id: max(securityEvents.id) })
        .from(securityEvents)
        .get()?.id ?? 0,

    /** What commands have done after one event and up to another, the oldest first. */
    listOfCommands: (after: number, upTo: number): SecurityRecord[] =>
      orm
        .select()
        .from(securityEvents)
        .where(
          and(
            gt(securityEvents.id, after),
            lte(securityEvents.id, upTo),
            eq(securityEvents.via, "command"),
          ),
        )
        .orderBy(asc(securityEvents.id))
        .all(),

    /**
     * Removes some of what is older than a moment, and of what is more than the table may hold.
     * Returns whether there was any.
     */
    prune(olderThan: Date): boolean {
      const isForeigners = inArray(securityEvents.event, [...FOREIGN]);
      const isOwn = notInArray(securityEvents.event, [...FOREIGN]);
      const crowded = orm
        .select({ accountId: securityEvents.accountId })
        .from(securityEvents)
        .where(isOwn)
        .groupBy(securityEvents.accountId)
        .having(sql`count(*) > ${MOST_OF_ACCOUNT}`)
        .all();
      const removed = [
        removeOldest(lt(securityEvents.at, olderThan)),
        keepNewest(MOST_FOREIGN, isForeigners),
        ...crowded.map(({ accountId }) =>
          keepNewest(MOST_OF_ACCOUNT, and(isOwn, sql`${securityEvents.accountId} IS ${accountId}`)),
        ),
      ];
      return removed.some((count) => count > 0);
    },
  };
}
