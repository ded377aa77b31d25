import type { Database } from "../db/database.ts";
import type { Log } from "../log.ts";
import {
  type Entry,
  groupOf,
  linesOf,
  nameOf,
  toEntry,
  toFields,
  withoutParticulars,
} from "./entry.ts";
import { createEventStore, type Row } from "./event-store.ts";
import { type Facts, isForeign, type SecurityEvent } from "./events.ts";

/** Milliseconds in which the same event again makes neither a row nor, from some time on, a line. */
const MINUTE = 60_000;
/** Different events of one account, or of all strangers together, that are told apart in a minute. */
const MOST_APART = 200;
/** Lines in a minute about what strangers do. */
const MOST_FOREIGN_LINES = 600;
/** Milliseconds until what was recorded is in the table, and until that is tried again. */
const WRITE_AFTER = 250;
const TRY_AGAIN_AFTER = 5_000;
/** Milliseconds until a command's events are in the log of the server. */
const COMMANDS_EVERY = 2_000;
/** Entries that wait for the disk; more are lost to the table. */
const MOST_WAITING = 5_000;

/** An entry in the minute in which it is counted. */
interface Counted extends Row {
  /** Lines that it has had. */
  lines: number;
  /** What the table has of it. */
  written: number;
}

export type SecurityLog = ReturnType<typeof createSecurityLog>;

/**
 * Tells what matters for security: at once in the log, a moment later in the table. What routes get
 * of it is `http/record.ts`.
 * @param isWaiting whether a write waits for other processes and reports a failure: for a command
 * that ends with it
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
  const counted = new Map<string, Counted>();
  let groups = new Map<string, number>();
  let foreignLines = 0;
  let minute = 0;
  let lost = 0;
  let timer: NodeJS.Timeout | null = null;

  /** The entry that an event is counted in; in a flood, one that stands for many. */
  const find = (entry: Entry): Counted | null => {
    const same = counted.get(nameOf(entry));
    if (same) return same;
    const group = groupOf(entry);
    const count = groups.get(group) ?? 0;
    groups.set(group, count + 1);
    const told = count < MOST_APART ? entry : withoutParticulars(entry);
    const known = counted.get(nameOf(told));
    if (known) return known;
    if (counted.size >= MOST_WAITING) return null;
    const fresh = { ...told, amount: null, times: 0, lines: 0, written: 0, id: null };
    counted.set(nameOf(told), fresh);
    return fresh;
  };

  const tell = (entry: Entry, times: number) => {
    const at = isForeign(entry.event) ? log.warn : log.info;
    at("security", toFields(entry, times));
  };

  const tellAtOnce = (entry: Entry, into: Counted) => {
    if (into.lines >= linesOf(entry.event)) return;
    if (isForeign(entry.event) && foreignLines++ >= MOST_FOREIGN_LINES) return;
    into.lines++;
    tell(entry, 1);
  };

  /** Says how often it was in all, where not every time had its line, and counts anew. */
  const closeMinute = () => {
    for (const [name, entry] of counted) {
      if (entry.written < entry.times) continue;
      counted.delete(name);
      if (entry.lines < entry.times) tell(entry, entry.times - entry.lines);
    }
    groups = new Map();
    foreignLines = 0;
  };

  const write = (): boolean => {
    const rows = [...counted.values()].filter(({ written, times }) => written < times);
    if (rows.length === 0) return true;
    const save = () => {
      const ids = store.save(rows);
      rows.forEach((row, index) => {
        row.id = ids[index] ?? null;
        row.written = row.times;
      });
    };
    if (isWaiting) save();
    else if (!db.attempt(save)) return false;
    return true;
  };

  const flush = () => {
    timer = null;
    const isWritten = write();
    if (!isWritten) log.warn("security_log_waits", { entries: counted.size });
    if (lost > 0) log.error("security_log_lost", { entries: lost });
    lost = 0;
    if (clock() - minute >= MINUTE || clock() < minute) closeMinute();
    if (!isWritten) schedule(TRY_AGAIN_AFTER);
    // Once more when the minute is over: for what had no line.
    else if (counted.size > 0) schedule(MINUTE);
  };

  let due = 0;
  const schedule = (delay: number) => {
    const at = performance.now() + delay;
    if (timer !== null && due <= at) return;
    if (timer !== null) clearTimeout(timer);
    due = at;
    timer = setTimeout(flush, delay);
    timer.unref();
  };

  return {
    /**
     * Tells an event: at once as a line of the log, and within a second as a row of the table. It
     * never fails and never waits. Call it when what it tells has happened.
     *
     * The same event again within a minute is counted in the same row. A flood costs a bounded number
     * of lines and rows: see `MOST_APART` and `event-store.ts`. What was recorded in the second before
     * a `kill -9` or a power cut is in the log, but not in the table.
     */
    record(event: SecurityEvent, facts: Facts): void {
      const now = clock();
      if (now - minute >= MINUTE || now < minute) {
        closeMinute();
        minute = now;
      }
      const entry = toEntry(event, facts, now);
      const into = find(entry);
      if (into === null) {
        lost++;
        return;
      }
      into.times++;
      if (entry.amount !== null) into.amount = (into.amount ?? 0) + entry.amount;
      tellAtOnce(entry, into);
      schedule(WRITE_AFTER);
    },

    /** Writes what waits to the table, now. */
    flush,

    /** Writes what waits, and says what had no line. Records nothing more. */
    close(): void {
      flush();
      closeMinute();
      if (timer !== null) clearTimeout(timer);
    },

    list: store.list,

    /**
     * Has the log tell what commands do from now on: they are processes of their own.
     * @returns a function that ends it
     */
    tellCommands(): () => void {
      let last = store.newest();
      const look = () => {
        const newest = store.newest();
        if (newest === last) return;
        for (const event of store.listOfCommands(last, newest)) {
          tell({ ...event, at: event.at.getTime() }, event.times);
        }
        last = newest;
      };
      const timer = setInterval(() => void db.attempt(look), COMMANDS_EVERY);
      timer.unref();
      return () => clearInterval(timer);
    },

    prune: store.prune,
  };
}
