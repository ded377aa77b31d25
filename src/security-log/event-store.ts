import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNull,
  lt,
  lte,
  max,
  notInArray,
  type SQL,
} from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { returnedRow } from "../db/returned-row.ts";
import type { Entry } from "./entry.ts";
import { EVENTS, isEvent, isForeign, type SecurityEvent } from "./events.ts";
import { createSecurityTables, type SecurityTables } from "./tables.ts";

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
export type SecurityRecord = SecurityTables["securityEvents"]["$inferSelect"];

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
  const { securityEvents } = db.tables(createSecurityTables);

  const matching = (accountId: string | null, { event, address, from, until }: EventFilter) =>
    and(
      accountId === null ? undefined : eq(securityEvents.accountId, accountId),
      event ? eq(securityEvents.event, event) : undefined,
      address ? eq(securityEvents.address, address) : undefined,
      from ? gte(securityEvents.at, from) : undefined,
      until ? lt(securityEvents.at, until) : undefined,
    );

  /** Removes rows that fit a condition, the oldest first, so many at once that nobody waits. */
  const removeOldest = async (condition: SQL | undefined): Promise<number> => {
    const oldest = orm
      .select({ id: securityEvents.id })
      .from(securityEvents)
      .where(condition)
      .orderBy(asc(securityEvents.id))
      .limit(AT_ONCE);
    const removed = await orm
      .delete(securityEvents)
      .where(inArray(securityEvents.id, oldest))
      .returning({ id: securityEvents.id });
    return removed.length;
  };

  /** Removes all but the newest rows that fit a condition. */
  const keepNewest = async (most: number, condition: SQL | undefined): Promise<number> => {
    const [first] = await orm
      .select({ id: securityEvents.id })
      .from(securityEvents)
      .where(condition)
      .orderBy(desc(securityEvents.id))
      .limit(1)
      .offset(most);
    return first ? removeOldest(and(condition, lte(securityEvents.id, first.id))) : 0;
  };

  return {
    /** Adds rows, or counts on in those that are there, in a transaction. Returns their ids. */
    async save(tx: Orm, rows: readonly Row[]): Promise<number[]> {
      const ids: number[] = [];
      for (const { id, at, times, amount, ...rest } of rows) {
        if (id !== null) {
          const isThis = eq(securityEvents.id, id);
          await tx.update(securityEvents).set({ times, amount }).where(isThis);
          ids.push(id);
          continue;
        }
        const row = { ...rest, times, amount, at: new Date(at) };
        const adding = tx.insert(securityEvents).values(row);
        ids.push(returnedRow(await adding.returning({ id: securityEvents.id })).id);
      }
      return ids;
    },

    /**
     * Events, the newest first.
     * @param accountId whose; null for all, which is for the owner of the server alone
     * @param before the id of an event: only older ones
     */
    list: async (
      accountId: string | null,
      filter: EventFilter,
      { limit, before = null }: { limit: number; before?: number | null },
    ): Promise<SecurityRecord[]> =>
      await orm
        .select()
        .from(securityEvents)
        .where(
          and(
            matching(accountId, filter),
            before === null ? undefined : lt(securityEvents.id, before),
          ),
        )
        .orderBy(desc(securityEvents.id))
        .limit(limit),

    /** The id of the newest event; 0 when there is none. */
    async newest(tx: Orm = orm): Promise<number> {
      const [row] = await tx.select({ id: max(securityEvents.id) }).from(securityEvents);
      return row?.id ?? 0;
    },

    /** What commands have done after one event and up to another, the oldest first. */
    listOfCommands: async (tx: Orm, after: number, upTo: number): Promise<SecurityRecord[]> =>
      await tx
        .select()
        .from(securityEvents)
        .where(
          and(
            gt(securityEvents.id, after),
            lte(securityEvents.id, upTo),
            eq(securityEvents.via, "command"),
          ),
        )
        .orderBy(asc(securityEvents.id)),

    /**
     * Removes some of what is older than a moment, and of what is more than the table may hold.
     * Returns whether there was any.
     */
    async prune(olderThan: Date): Promise<boolean> {
      const isForeigners = inArray(securityEvents.event, [...FOREIGN]);
      const isOwn = notInArray(securityEvents.event, [...FOREIGN]);
      const crowded = await orm
        .select({ accountId: securityEvents.accountId })
        .from(securityEvents)
        .where(isOwn)
        .groupBy(securityEvents.accountId)
        .having(gt(count(), MOST_OF_ACCOUNT));
      const old = await removeOldest(lt(securityEvents.at, olderThan));
      let removed = old + (await keepNewest(MOST_FOREIGN, isForeigners));
      for (const { accountId: id } of crowded) {
        const { accountId } = securityEvents;
        const isTheirs = and(isOwn, id === null ? isNull(accountId) : eq(accountId, id));
        removed += await keepNewest(MOST_OF_ACCOUNT, isTheirs);
      }
      return removed > 0;
    },
  };
}
