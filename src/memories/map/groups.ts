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
  const named: Groups["named"] = [];
  for (const [name, memories] of counts) {
    await pause();
    if (named.length === MAX_GROUPS && memories < (named.at(-1)?.memories ?? 0)) continue;
    named.push({ name, memories });
    named.sort((a, b) => b.memories - a.memories || (a.name < b.name ? -1 : 1));
    named.length = Math.min(named.length, MAX_GROUPS);
  }
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
