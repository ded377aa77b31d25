import type { Database, Orm } from "../db/database.ts";
import type { Log } from "../log.ts";
import { maskSecrets } from "../secrets/mask-secrets.ts";
import { type Action, ASKING, type Counted, nameOf, together } from "./action.ts";
import { createActivityStore } from "./activity-store.ts";

/** Days that activity is kept. */
export const KEPT_DAYS = 90;
/** Milliseconds until what was done is in the table, and until that is tried again. */
const WRITE_AFTER = 3_000;
const TRY_AGAIN_AFTER = 10_000;
/** Tries after which what can't be written is let go. */
const MOST_TRIES = 60;
/** Different actions that wait; of more, only what is alike without its question is told apart. */
const MOST_WAITING = 2_000;
/** Different actions of one account that are written at a time; the rest counts without agent and question. */
const MOST_OF_ACCOUNT = 50;
/** Characters that are kept of a question. */
const MAX_QUERY = 300;

export type Activity = ReturnType<typeof createActivity>;

/**
 * Counts what is done with memories, by whom and when: by the day, and the latest one by one. To
 * record is to count in memory; a few seconds later it is written, all at once. What was counted in the
 * seconds before a `kill -9` is lost.
 * @param clock milliseconds since 1970
 */
export function createActivity({
  db,
  clock,
  log,
}: {
  db: Database;
  clock: () => number;
  log: Log;
}) {
  const store = createActivityStore({ db });
  let waiting = new Map<string, Counted>();
  let timer: NodeJS.Timeout | null = null;
  let failures = 0;
  let isClosed = false;

  const put = (counted: Counted): void => {
    const name = nameOf(counted);
    const same = waiting.get(name);
    if (same) waiting.set(name, together(same, counted));
    else if (waiting.size < MOST_WAITING) waiting.set(name, counted);
    else if (counted.query !== null) put({ ...counted, query: null });
    else if (waiting.size < 2 * MOST_WAITING) waiting.set(name, counted);
  };

  const write = async (actions: readonly Counted[], tx: Orm): Promise<void> => {
    const accountIds = [...new Set(actions.map(({ accountId }) => accountId))];
    const since = await store.queriesSince(tx, accountIds);
    await store.save(tx, asKept(actions, since));
  };

  const writeWaiting = async (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const actions = [...waiting.values()];
    if (actions.length === 0) return;
    waiting = new Map();
    const isWritten = await db.attempt((tx) => write(actions, tx));
    if (isWritten) {
      failures = 0;
      return;
    }
    failures++;
    if (failures === 1) log.warn("activity_waits", { entries: actions.length });
    if (failures % MOST_TRIES === 0) {
      log.error("activity_lost", { entries: actions.length });
      return;
    }
    const later = [...waiting.values()];
    waiting = new Map();
    for (const action of [...actions, ...later]) put(action);
    schedule();
  };

  // One after another, so that a question is kept by the setting of its time.
  let writing: Promise<void> = Promise.resolve();
  const flush = (): Promise<void> => {
    writing = writing.then(writeWaiting, writeWaiting);
    return writing;
  };

  const schedule = (): void => {
    if (timer !== null || isClosed) return;
    timer = setTimeout(() => void flush(), failures > 0 ? TRY_AGAIN_AFTER : WRITE_AFTER);
    timer.unref();
  };

  return {
    /** Counts what has been done. It never fails and never waits. */
    record(action: Action): void {
      if (isClosed) return;
      const inVain = action.memories === 0 && ASKING.includes(action.kind) ? 1 : 0;
      // Not every database can keep it.
      const agent = action.agent?.toWellFormed().replaceAll("\0", "\uFFFD") ?? null;
      put({ ...action, agent, query: shortened(action.query), at: clock(), times: 1, inVain });
      schedule();
    },

    /** Writes what waits, now. */
    flush,

    /** Writes what waits. The database is not touched after that. */
    async close(): Promise<void> {
      isClosed = true;
      await flush();
      if (timer !== null) clearTimeout(timer);
    },

    daily: store.daily,
    actors: store.actors,
    list: store.list,
    newest: store.newest,
    lastFound: store.lastFound,

    /** Since when an account keeps what is asked; null where it does not. */
    async queriesSince(accountId: string): Promise<Date | null> {
      const since = (await store.queriesSince(db.orm, [accountId])).get(accountId);
      return since === undefined ? null : new Date(since);
    },

    /** Keeps what is asked from now on, or stops that and removes all of it. */
    keepQueries: (accountId: string, isKept: boolean): Promise<void> =>
      store.keepQueries(accountId, isKept ? new Date(clock()) : null),

    /** Removes what is too old or too much; see the store. */
    prune: () => store.prune(clock(), KEPT_DAYS),
  };
}

/** Actions as accounts want them kept: with the question or without, and not too many. */
function asKept(actions: readonly Counted[], since: ReadonlyMap<string, number>): Counted[] {
  const kept = new Map<string, Counted>();
  const perAccount = new Map<string, number>();
  for (const action of withoutBeginnings(actions)) {
    const isKept = action.at >= (since.get(action.accountId) ?? Number.POSITIVE_INFINITY);
    const query = isKept && action.query !== null ? maskSecrets(action.query) : null;
    const amount = perAccount.get(action.accountId) ?? 0;
    const told =
      amount < MOST_OF_ACCOUNT ? { ...action, query } : { ...action, query: null, agent: null };
    const name = nameOf(told);
    const same = kept.get(name);
    if (!same) perAccount.set(action.accountId, amount + 1);
    kept.set(name, same ? together(same, told) : told);
  }
  return [...kept.values()];
}

/** The dashboard searches while a person types: only the last of that is what they asked. */
function withoutBeginnings(actions: readonly Counted[]): Counted[] {
  const isTyped = ({ kind, source, accountId }: Action) =>
    kind === "searched" && source.id === accountId;
  return actions.filter((action, place) => {
    const { accountId, query } = action;
    if (!isTyped(action) || query === null) return true;
    const next = actions
      .slice(place + 1)
      .find((each) => each.accountId === accountId && isTyped(each));
    return !next?.query?.startsWith(query);
  });
}

/** On one line, and without what a database may refuse. */
function shortened(query: string | null): string | null {
  if (query === null) return null;
  const line = query
    .slice(0, 4 * MAX_QUERY)
    .replaceAll(/[\s\p{Cc}\p{Cs}]+/gu, " ")
    .trim();
  return [...line].slice(0, MAX_QUERY).join("") || null;
}
