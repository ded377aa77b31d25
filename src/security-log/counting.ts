import { type Entry, groupOf, linesOf, nameOf, withoutParticulars } from "./entry.ts";
import type { Row } from "./event-store.ts";
import { isForeign } from "./events.ts";

/** Different events that are counted separately in a minute, for one account or for all strangers. */
const MOST_APART = 200;
/** Lines of the log about strangers in a minute. */
const MOST_FOREIGN_LINES = 600;
/** Entries that wait to be written to the table. Further entries are missing from it. */
const MOST_WAITING = 5_000;

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
export function createCounting(writeLine: (entry: Entry, times: number) => void) {
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
    const counting = count < MOST_APART ? entry : withoutParticulars(entry);
    const known = counted.get(nameOf(counting));
    if (known) return known;
    if (counted.size >= MOST_WAITING) return null;
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
        into.lines < linesOf(entry.event) &&
        (!isForeign(entry.event) || foreignLines++ < MOST_FOREIGN_LINES);
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
