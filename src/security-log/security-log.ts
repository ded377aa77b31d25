import type { Orm, StoreParts } from "../db/database.ts";
import type { Log } from "../log.ts";
import { createDelayed } from "../timing/loop.ts";
import { createEventStore, type Row } from "./event-store.ts";
import {
  type Entry,
  type Facts,
  groupOf,
  isForeign,
  linesPerMinute,
  logFields,
  nameOf,
  type SecurityEvent,
  toEntry,
  withoutDetails,
} from "./events.ts";

/** Rounds in which an event may still appear late. A command's transaction is shorter. */
const LOOKS_BACK = 5;

/**
 * Remembers the events that the log has. When several processes write to a database, an event with a
 * lower number may appear after one with a higher number, so that each round reads the last few again.
 * @param newest events up to this one are not reported
 */
export function createReportedEvents(newest: number) {
  const lastLooks: number[] = [newest];
  const ids = new Set<number>();
  return {
    /** Events after this one are read again. */
    before: (): number => lastLooks[0] ?? 0,
    /** Adds an event. Returns false if it was added before. */
    add: (id: number): boolean => !ids.has(id) && ids.add(id) !== undefined,
    moveOn(newest: number): void {
      lastLooks.push(newest);
      if (lastLooks.length > LOOKS_BACK) lastLooks.shift();
      for (const id of ids) if (id <= this.before()) ids.delete(id);
    },
  };
}

/** Different events that are counted separately in a minute, for one account or for all strangers. */
const MAX_APART = 200;
/** Lines of the log about strangers in a minute. */
const MAX_FOREIGN_LINES = 600;
/** Entries that wait to be written to the table. Further entries are missing from it. */
const MAX_WAITING = 5_000;

/** An entry in the minute in which it is counted. */
interface Counted extends Row {
  /** Lines of the log about it so far. */
  lines: number;
  /** Its count when it was last written. */
  written: number;
}

/**
 * Counts events that repeat within a minute, so that a flood causes a limited number of lines and rows.
 * @param writeLine writes a line for an entry and its count
 */
function createCounting(writeLine: (entry: Entry, times: number) => void) {
  const counted = new Map<string, Counted>();
  let groups = new Map<string, number>();
  let foreignLines = 0;

  /**
   * The entry that counts an event; in a flood, one entry for many events; null if there is no room.
   */
  const find = (entry: Entry): Counted | null => {
    const same = counted.get(nameOf(entry));
    if (same) return same;
    const group = groupOf(entry);
    const count = groups.get(group) ?? 0;
    groups.set(group, count + 1);
    const counting = count < MAX_APART ? entry : withoutDetails(entry);
    const known = counted.get(nameOf(counting));
    if (known) return known;
    if (counted.size >= MAX_WAITING) return null;
    const fresh = { ...counting, amount: null, times: 0, lines: 0, written: 0, id: null };
    counted.set(nameOf(counting), fresh);
    return fresh;
  };

  return {
    /** How many entries there are. */
    size: (): number => counted.size,

    /**
     * Counts an event, and writes its line while it has lines left. Returns whether the event was
     * counted.
     */
    add(entry: Entry): boolean {
      const into = find(entry);
      if (into === null) return false;
      into.times++;
      if (entry.amount !== null) into.amount = (into.amount ?? 0) + entry.amount;
      const mayTell =
        into.lines < linesPerMinute(entry.event) &&
        (!isForeign(entry.event) || foreignLines++ < MAX_FOREIGN_LINES);
      if (mayTell) {
        into.lines++;
        writeLine(entry, 1);
      }
      return true;
    },

    /** Entries that the table lacks or has with an older count, at most `most`. */
    waiting: (most: number): Counted[] =>
      [...counted.values()].filter(({ written, times }) => written < times).slice(0, most),

    /**
     * Logs the final counts of events that did not have a line each time, and starts counting again.
     */
    closeMinute(): void {
      for (const [name, entry] of counted) {
        if (entry.written < entry.times) continue;
        counted.delete(name);
        if (entry.lines < entry.times) writeLine(entry, entry.times - entry.lines);
      }
      groups = new Map();
      foreignLines = 0;
    },
  };
}

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
}: StoreParts & { log: Log; isWaiting?: boolean }) {
  const store = createEventStore({ db });
  const writeLine = (entry: Entry, times: number) => {
    const at = isForeign(entry.event) ? log.warn : log.info;
    at("security", logFields(entry, times));
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
    const isWritten = await write();
    if (!isWritten && !isFailing) log.warn("security_log_waits", { entries: counting.size() });
    isFailing = !isWritten;
    if (lost > 0) log.error("security_log_lost", { entries: lost });
    lost = 0;
    if (isMinuteOver()) counting.closeMinute();
    if (isClosed) return;
    if (isFailing) writeWithin(TRY_AGAIN_AFTER);
    else if (counting.waiting(1).length > 0) writeWithin(0);
    // Write once more at the end of the minute, for counts without a line.
    else if (counting.size() > 0) writeWithin(MINUTE);
  };

  // Two writes at once would write the same row twice.
  const writing = createDelayed(writeWaiting);
  const writeWithin = (milliseconds: number): void => {
    // A command writes when it ends, and reports a failure.
    if (!isWaiting) writing.within(milliseconds);
  };

  return {
    /**
     * Records an event: at once as a line of the log, within a second as a row of the table. It never
     * fails and never waits. Call it after the fact.
     *
     * Repeated events within a minute share a row. A flood causes a limited number of lines and rows:
     * see `createCounting` and `event-store.ts`. Events of the last second before a `kill -9` or a power
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
      writeWithin(isFailing ? TRY_AGAIN_AFTER : WRITE_AFTER);
    },

    /** Writes waiting events to the table now, few enough to delay no one. */
    flush: writing.now,

    /**
     * Writes waiting events, and logs counts without a line. Afterwards it does not use the database.
     */
    async close(): Promise<void> {
      isClosed = true;
      for (let left = Math.ceil(counting.size() / AT_ONCE); left >= 0; left--) await writing.now();
      counting.closeMinute();
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
