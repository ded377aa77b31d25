import type { Orm, StoreParts } from "../db/database.ts";
import type { Log } from "../log.ts";
import { maskSecrets } from "../secrets/find-secrets.ts";
import { createDelayed } from "../timing/loop.ts";
import { type Action, addCounts, type CountedAction, groupKey, QUESTIONS } from "./action.ts";
import { createActivityReports } from "./activity-reports.ts";
import { createActivityPruning, createActivityStore } from "./activity-store.ts";

/** Days for which activity is kept. */
export const KEPT_DAYS = 90;
/** Milliseconds between an action and its write to the database. */
const WRITE_DELAY_MS = 3_000;
/** Milliseconds until a failed write is tried again. */
const RETRY_DELAY_MS = 10_000;
/** After this number of failed tries the pending actions are dropped. */
const MAX_TRIES = 60;
/** Different actions in memory. Beyond this number, actions are counted without their questions. */
const MAX_PENDING = 2_000;
/** Different actions of one account in one write. All others are counted without agent and question. */
const MAX_PER_ACCOUNT = 50;
/** Characters of a question that are kept. */
const MAX_QUERY = 300;

export type Activity = ReturnType<typeof createActivity>;

/**
 * Counts the actions on memories by source, agent and day, and lists the latest ones. `record` only counts in memory;
 * the counts are written to the database together a few seconds later. A `kill -9` loses the last seconds.
 */
export function createActivity({ db, clock, log }: StoreParts & { log: Log }) {
  const store = createActivityStore({ db });
  const reports = createActivityReports({ db });
  const removeOld = createActivityPruning({ db });
  let pending = new Map<string, CountedAction>();
  let failures = 0;
  let isClosed = false;

  const countAction = (counted: CountedAction): void => {
    const key = groupKey(counted);
    const same = pending.get(key);
    if (same) pending.set(key, addCounts(same, counted));
    else if (pending.size < MAX_PENDING) pending.set(key, counted);
    else if (counted.query !== null) countAction({ ...counted, query: null });
    else if (pending.size < 2 * MAX_PENDING) pending.set(key, counted);
  };

  const write = async (actions: readonly CountedAction[], tx: Orm): Promise<void> => {
    const accountIds = [...new Set(actions.map(({ accountId }) => accountId))];
    const since = await store.queriesSince(tx, accountIds);
    await store.save(tx, withinLimits(actions, since));
  };

  const schedule = (): void => {
    if (!isClosed) writing.within(failures > 0 ? RETRY_DELAY_MS : WRITE_DELAY_MS);
  };

  const writePending = async (): Promise<void> => {
    const actions = [...pending.values()];
    if (actions.length === 0) return;
    pending = new Map();
    const isWritten = await db.attempt((tx) => write(actions, tx));
    if (isWritten) {
      failures = 0;
      return;
    }
    failures++;
    if (failures === 1) log.warn("activity_waits", { entries: actions.length });
    if (failures % MAX_TRIES === 0) {
      log.error("activity_lost", { entries: actions.length });
      return;
    }
    const later = [...pending.values()];
    pending = new Map();
    for (const action of [...actions, ...later]) countAction(action);
    schedule();
  };

  // Writes run one after another, so that the setting at the time of a question decides whether it is kept.
  const writing = createDelayed(writePending);

  return {
    /** Counts an action. Never throws and never waits. */
    record(action: Action): void {
      if (isClosed) return;
      const inVain = action.memories === 0 && QUESTIONS.includes(action.kind) ? 1 : 0;
      // PostgreSQL refuses NUL characters and lone surrogates.
      const agent = action.agent?.toWellFormed().replaceAll("\0", "\uFFFD") ?? null;
      countAction({
        ...action,
        agent,
        query: shortened(action.query),
        at: clock(),
        times: 1,
        inVain,
      });
      schedule();
    },

    flush: writing.now,

    /** Writes the pending actions. Afterwards the database is not used any more. */
    async close(): Promise<void> {
      isClosed = true;
      await writing.now();
    },

    ...reports,

    /** When an account began to keep questions; null if it does not keep them. */
    async queriesSince(accountId: string): Promise<Date | null> {
      const since = (await store.queriesSince(db.orm, [accountId])).get(accountId);
      return since === undefined ? null : new Date(since);
    },

    /** Keeps questions from now on, or stops and deletes the kept ones. */
    keepQueries: (accountId: string, isKept: boolean): Promise<void> =>
      store.keepQueries(accountId, isKept ? new Date(clock()) : null),

    /** Deletes some activity that is too old or too much. Returns whether there was any. */
    prune: () => removeOld(clock(), KEPT_DAYS),
  };
}

/** Removes the questions of accounts that do not keep them, and limits the number of actions of each account. */
function withinLimits(
  actions: readonly CountedAction[],
  since: ReadonlyMap<string, number>,
): CountedAction[] {
  const kept = new Map<string, CountedAction>();
  const perAccount = new Map<string, number>();
  for (const action of actions) {
    const keepsQueries = action.at >= (since.get(action.accountId) ?? Number.POSITIVE_INFINITY);
    const query = keepsQueries && action.query !== null ? maskSecrets(action.query) : null;
    const amount = perAccount.get(action.accountId) ?? 0;
    const details = amount < MAX_PER_ACCOUNT ? { query } : { query: null, agent: null };
    const shown = { ...action, ...details };
    const key = groupKey(shown);
    const same = kept.get(key);
    if (!same) perAccount.set(action.accountId, amount + 1);
    kept.set(key, same ? addCounts(same, shown) : shown);
  }
  return [...kept.values()];
}

/** The beginning of a question, on one line and without characters that a database refuses. */
function shortened(query: string | null): string | null {
  if (query === null) return null;
  const line = query
    .slice(0, 4 * MAX_QUERY)
    .replaceAll(/[\s\p{Cc}\p{Cs}]+/gu, " ")
    .trim();
  return [...line].slice(0, MAX_QUERY).join("") || null;
}
