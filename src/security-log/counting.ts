import { type Entry, groupOf, linesOf, nameOf, withoutParticulars } from "./entry.ts";
import type { Row } from "./event-store.ts";
import { isForeign } from "./events.ts";

/** Different events of one account, or of all strangers together, that are told apart in a minute. */
const MOST_APART = 200;
/** Lines in a minute about what strangers do. */
const MOST_FOREIGN_LINES = 600;
/** Entries that wait for the disk; more are lost to the table. */
const MOST_WAITING = 5_000;

/** An entry in the minute in which it is counted. */
interface Counted extends Row {
  /** Lines that it has had. */
  lines: number;
  /** How often it was when it was last written. */
  written: number;
}

/**
 * Counts what happens several times within a minute, so that a flood costs a bounded number of lines
 * and rows.
 * @param tell writes a line for an entry that has happened so often
 */
export function createCounting(tell: (entry: Entry, times: number) => void) {
  const counted = new Map<string, Counted>();
  let groups = new Map<string, number>();
  let foreignLines = 0;

  /** The entry that an event is counted in; in a flood, one that stands for many; null for none. */
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

  return {
    /** How many entries there are. */
    size: (): number => counted.size,

    /** Counts an event, and tells it if its lines are not used up. Returns whether it could. */
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
        tell(entry, 1);
      }
      return true;
    },

    /** Those that the table does not have as they are, at most so many. */
    waiting: (most: number): Counted[] =>
      [...counted.values()].filter(({ written, times }) => written < times).slice(0, most),

    /** Says how often it was in all, where not every time had its line, and counts anew. */
    closeMinute(): void {
      for (const [name, entry] of counted) {
        if (entry.written < entry.times) continue;
        counted.delete(name);
        if (entry.lines < entry.times) tell(entry, entry.times - entry.lines);
      }
      groups = new Map();
      foreignLines = 0;
    },
  };
}
