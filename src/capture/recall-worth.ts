import type { Reach } from "../keys/reach.ts";
import { reachesOf } from "../spaces/with-spaces.ts";
import type { Uses } from "../uses/uses.ts";

/** How often a memory was found by searches, recalled, and used. */
interface Worth {
  readonly found: number;
  readonly recalled: number;
  readonly used: number;
}

/** The worth of memories, by id. Those that were never found, recalled or used are missing. */
type Worths = ReadonlyMap<string, Worth>;

/** What each doubling of the uses adds to the log-odds of a recall, and the most that all add. */
const USED = { each: 0.15, most: 0.5 };
/** Recalls without any use from which on a memory sinks, and what each doubling of them subtracts, and at most. */
const USELESS = { from: 10, each: 0.4, most: 1.5 };

/**
 * What the uses of a memory add to the log-odds of its recall. What was found and then opened, changed or superseded gains
 * a little; what was recalled ten times and never found or used sinks.
 */
export function worthShift({ found, recalled, used }: Worth): number {
  if (used > 0 && found + recalled > 0) return Math.min(USED.most, USED.each * Math.log2(1 + used));
  if (recalled < USELESS.from || found + used > 0) return 0;
  return -Math.min(USELESS.most, USELESS.each * (1 + Math.log2(recalled / USELESS.from)));
}

/** The same in words, for `explain`; empty if the worth changes nothing. */
function describeWorth(worth: Worth): string {
  const shift = worthShift(worth);
  if (shift === 0) return "";
  const why =
    shift > 0 ? `used ${worth.used} times` : `recalled ${worth.recalled} times, never used`;
  return `, ${why} (${shift > 0 ? "+" : "−"}${Math.abs(shift).toFixed(2)})`;
}

/** What the uses of one of the memories add, and say. */
export const shiftOf = (worths: Worths, id: string): number => {
  const worth = worths.get(id);
  return worth ? worthShift(worth) : 0;
};
export const wordsOf = (worths: Worths, id: string): string => {
  const worth = worths.get(id);
  return worth ? describeWorth(worth) : "";
};

export type WorthsOf = (reach: Reach, ids: readonly string[]) => Promise<Worths>;

/** Makes a function that reads the worth of memories of a caller's own account and spaces. */
export function createWorths(uses: Pick<Uses, "of">): WorthsOf {
  return async (reach, ids) => {
    if (ids.length === 0) return new Map();
    const all = reachesOf(reach, {}).map(({ accountId }) => uses.of(accountId, ids));
    return new Map((await Promise.all(all)).flatMap((own) => [...own]));
  };
}
