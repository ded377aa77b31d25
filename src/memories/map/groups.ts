import { createPause } from "../../timing/pause.ts";

/** The fields by which the memories of a map can be grouped. */
export const GROUPINGS = ["project", "tag", "agent"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Groups that have a colour of their own. */
export const MAX_GROUPS = 8;
/** Bits of a mask besides the bits of the groups. */
const OTHERS = 1 << MAX_GROUPS;
const NONE = 1 << (MAX_GROUPS + 1);

/** Memories by one of their fields. */
export interface Groups {
  /** The most frequent values, the first with the bit 0. */
  named: { name: string; memories: number }[];
  /** Memories with other values only (the bit after the groups), and without a value (the last bit). */
  others: number;
  none: number;
  /** For each memory the bits of its groups. A memory with several tags has several bits. */
  masks: Uint16Array<ArrayBuffer>;
}

/** Keys that are compared before the clock is asked whether others should have a turn. */
const KEYS_AT_ONCE = 500;

/**
 * The most frequent first; equal counts by name. An account may have hundreds of thousands of tags, so most are only
 * compared with the last of the result, and other requests run in between.
 */
export async function mostFrequent<Key extends string | null>(
  counts: ReadonlyMap<Key, number>,
  limit: number,
): Promise<[Key, number][]> {
  const first: [Key, number][] = [];
  const pause = createPause();
  let place = 0;
  for (const [key, count] of counts) {
    if (place++ % KEYS_AT_ONCE === 0) await pause();
    const isBefore = ([other, others]: [Key, number]) =>
      count > others || (count === others && (key ?? "") < (other ?? ""));
    const last = first.at(-1);
    if (first.length === limit && last && !isBefore(last)) continue;
    let [from, to] = [0, first.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const each = first[middle];
      if (each && isBefore(each)) to = middle;
      else from = middle + 1;
    }
    first.splice(from, 0, [key, count]);
    first.length = Math.min(first.length, limit);
  }
  return first;
}

/**
 * Groups memories by the most frequent values. An account may have many of them: other requests run in between.
 * @param values the values of each memory
 */
export async function groupsOf(values: readonly (readonly string[])[]): Promise<Groups> {
  const pause = createPause();
  const counts = new Map<string, number>();
  for (const own of values) {
    for (const name of own) counts.set(name, (counts.get(name) ?? 0) + 1);
    await pause();
  }
  const first = await mostFrequent(counts, MAX_GROUPS);
  const named = first.map(([name, memories]) => ({ name, memories }));
  const bits = new Map(named.map(({ name }, bit) => [name, 1 << bit]));
  const masks = new Uint16Array(values.length);
  for (const [at, own] of values.entries()) {
    const mask = own.reduce((sum, name) => sum | (bits.get(name) ?? 0), 0);
    masks[at] = mask || (own.length > 0 ? OTHERS : NONE);
    await pause();
  }
  const count = (bit: number) => masks.reduce((sum, mask) => sum + (mask & bit ? 1 : 0), 0);
  return { named, others: count(OTHERS), none: count(NONE), masks };
}
