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
import { type Database, type Orm, returnedRow } from "../db/database.ts";
import { type Entry, EVENTS, isEvent, isForeign, type SecurityEvent } from "./events.ts";
import { createSecurityTables, type SecurityTables } from "./tables.ts";

/** Rows about strangers. The oldest are removed first, and never to make room for others. */
const MAX_FOREIGN = 50_000;
/** Rows about one account. */
const MAX_OF_ACCOUNT = 10_000;

/** Rows that are removed at once: about a millisecond's work. */
const AT_ONCE = 200;

const FOREIGN: readonly SecurityEvent[] = Object.keys(EVENTS).filter(isEvent).filter(isForeign);

/** An event with its count, and the id of its row if it has one. */
export interface Row extends Entry {
  amount: number | null;
  times: number;
  id: number | null;
}

/** A row of the table. */
export type SecurityRecord = SecurityTables["securityEvents"]["$inferSelect"];

/** A filter of events; null means any. */
export interface EventFilter {
  readonly event?: SecurityEvent | null;
  readonly address?: string | null;
  readonly from?: Date | null;
  /** Exclusive. */
  readonly until?: Date | null;
}

/** The store of events. */
export function createEventStore({ db }: { db: Database }) {
  const { orm } = db;
  const { securityEvents } = db.tables(createSecurityTables);

  const matching = (
    accountId: string | null,
    { event, address, from, until }: EventFilter,
    before: number | null,
  ) =>
    and(
      accountId === null ? undefined : eq(securityEvents.accountId, accountId),
      event ? eq(securityEvents.event, event) : undefined,
      address ? eq(securityEvents.address, address) : undefined,
      from ? gte(securityEvents.at, from) : undefined,
      until ? lt(securityEvents.at, until) : undefined,
      before === null ? undefined : lt(securityEvents.id, before),
    );

  /** Removes the oldest rows that meet a condition, few enough to delay no one. */
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

  /** Removes all rows that meet a condition, except the newest. */
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
    /** Inserts rows, or updates the counts of existing ones, in a transaction. Returns their ids. */
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
     * @param accountId the account; null for all accounts, which only the owner may see
     * @param before the id of an event: only older events are returned
     */
    list: async (
      accountId: string | null,
      filter: EventFilter,
      { limit, before = null }: { limit: number; before?: number | null },
    ): Promise<SecurityRecord[]> =>
      await orm
        .select()
        .from(securityEvents)
        .where(matching(accountId, filter, before))
        .orderBy(desc(securityEvents.id))
        .limit(limit),

    /** The id of the newest event; 0 without events. */
    async newest(tx: Orm = orm): Promise<number> {
      const [row] = await tx.select({ id: max(securityEvents.id) }).from(securityEvents);
      return row?.id ?? 0;
    },

    /** Events by commands after one event and up to another, the oldest first. */
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

    /** Removes some of the events that are too old or too many. Returns whether it found any. */
    async prune(olderThan: Date): Promise<boolean> {
      const isForeigners = inArray(securityEvents.event, [...FOREIGN]);
      const isOwn = notInArray(securityEvents.event, [...FOREIGN]);
      const crowded = await orm
        .select({ accountId: securityEvents.accountId })
        .from(securityEvents)
        .where(isOwn)
        .groupBy(securityEvents.accountId)
        .having(gt(count(), MAX_OF_ACCOUNT));
      const old = await removeOldest(lt(securityEvents.at, olderThan));
      let removed = old + (await keepNewest(MAX_FOREIGN, isForeigners));
      for (const { accountId: id } of crowded) {
        const { accountId } = securityEvents;
        const isTheirs = and(isOwn, id === null ? isNull(accountId) : eq(accountId, id));
        removed += await keepNewest(MAX_OF_ACCOUNT, isTheirs);
      }
      return removed > 0;
    },
  };
}
