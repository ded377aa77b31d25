import type { Database, Orm } from "../db/database.ts";
import type { Log } from "../log.ts";
import { createCounting } from "./counting.ts";
import { type Entry, toEntry, toFields } from "./entry.ts";
import { createEventStore } from "./event-store.ts";
import { type Facts, isForeign, type SecurityEvent } from "./events.ts";
import { createReportedEvents } from "./reported-events.ts";

/** Milliseconds in which a repeated event gets no row of its own and, after some repeats, no line. */
const MINUTE = 60_000;
/** Milliseconds until an event is in the table, and between retries. */
const WRITE_AFTER = 800;
const TRY_AGAIN_AFTER = 5_000;
/** Rows that are written at once, which takes some 20 ms. */
const AT_ONCE = 500;
/** Milliseconds between two searches for events of commands. */
const COMMANDS_EVERY = 2_000;

export type SecurityLog = ReturnType<typeof createSecurityLog>;

/**
 * Records security events: at once in the log, a moment later in the table. Routes use
 * `http/record-event.ts`.
 * @param isWaiting whether a write waits for other processes and throws its failure: for commands,
 *   which end after it
 */
export function createSecurityLog({
  db,
  clock,
  log,
  isWaiting = false,
}: {
  db: Database;
  /** Milliseconds since 1970. */
  clock: () => number;
  log: Log;
  isWaiting?: boolean;
}) {
  const store = createEventStore({ db });
  const writeLine = (entry: Entry, times: number) => {
    const at = isForeign(entry.event) ? log.warn : log.info;
    at("security", toFields(entry, times));
  };
  const counting = createCounting(writeLine);
  let minute = 0;
  let lost = 0;
  let isFailing = false;
  let isClosed = false;

  const isMinuteOver = () => Math.abs(clock() - minute) >= MINUTE;

  const write = async (): Promise<boolean> => {
    const waiting = counting.waiting(AT_ONCE);
    if (waiting.length === 0) return true;
    // Their counts may rise in the meantime.
    const rows = waiting.map((row) => ({ ...row }));
    let ids: number[] = [];
    const save = async (tx: Orm) => {
      ids = await store.save(tx, rows);
    };
    if (isWaiting) await db.transaction(save);
    else if (!(await db.attempt(save))) return false;
    waiting.forEach((row, index) => {
      row.id = ids[index] ?? null;
      row.written = rows[index]?.times ?? 0;
    });
    return true;
  };

  const writeWaiting = async () => {
    timer.clear();
    const isWritten = await write();
    if (!isWritten && !isFailing) log.warn("security_log_waits", { entries: counting.size() });
    isFailing = !isWritten;
    if (lost > 0) log.error("security_log_lost", { entries: lost });
    lost = 0;
    if (isMinuteOver()) counting.closeMinute();
    if (isClosed) return;
    if (isFailing) timer.set(TRY_AGAIN_AFTER);
    else if (counting.waiting(1).length > 0) timer.set(0);
    // Write once more at the end of the minute, for counts without a line.
    else if (counting.size() > 0) timer.set(MINUTE);
  };

  // Two writes at once would write the same row twice.
  let writing: Promise<void> = Promise.resolve();
  const flush = (): Promise<void> => {
    writing = writing.then(writeWaiting, writeWaiting);
    return writing;
  };
  // A command writes when it ends, and reports a failure.
  const timer = createTimer(isWaiting ? () => {} : () => void flush());

  return {
    /**
     * Records an event: at once as a line of the log, within a second as a row of the table. It never
     * fails and never waits. Call it after the fact.
     *
     * Repeated events within a minute share a row. A flood causes a limited number of lines and rows:
     * see `counting.ts` and `event-store.ts`. Events of the last second before a `kill -9` or a power
     * cut are in the log, but not in the table. The same holds for events after `close`.
     */
    record(event: SecurityEvent, facts: Facts): void {
      const entry = toEntry(event, facts, clock());
      if (isClosed) {
        writeLine(entry, 1);
        return;
      }
      if (isMinuteOver()) {
        counting.closeMinute();
        minute = clock();
      }
      if (!counting.add(entry)) lost++;
      timer.set(isFailing ? TRY_AGAIN_AFTER : WRITE_AFTER);
    },

    /** Writes waiting events to the table now, few enough to delay no one. */
    flush,

    /**
     * Writes waiting events, and logs counts without a line. Afterwards it does not use the database.
     */
    async close(): Promise<void> {
      isClosed = true;
      for (let left = Math.ceil(counting.size() / AT_ONCE); left >= 0; left--) await flush();
      counting.closeMinute();
      timer.clear();
    },

    list: store.list,

    /**
     * Logs the events of commands from now on: they are other processes.
     * @returns a function that stops it
     */
    async logCommands(): Promise<() => void> {
      const reported = createReportedEvents(await store.newest());
      const look = async (tx: Orm) => {
        const newest = await store.newest(tx);
        if (newest > reported.before()) {
          for (const event of await store.listOfCommands(tx, reported.before(), newest)) {
            if (reported.add(event.id))
              writeLine({ ...event, at: event.at.getTime() }, event.times);
          }
        }
        reported.moveOn(newest);
      };
      const interval = setInterval(() => void db.attempt(look), COMMANDS_EVERY);
      interval.unref();
      return () => clearInterval(interval);
    },

    prune: store.prune,
  };
}

/** Runs `work` once at the earliest time that was set. It does not keep the process alive. */
function createTimer(work: () => void) {
  let timer: NodeJS.Timeout | null = null;
  let due = 0;
  return {
    set(delay: number): void {
      const at = performance.now() + delay;
      if (timer !== null && due <= at) return;
      if (timer !== null) clearTimeout(timer);
      due = at;
      timer = setTimeout(work, delay);
      timer.unref();
    },
    clear(): void {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
