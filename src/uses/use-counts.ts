/** What can happen to a memory: it is in a search's answer, it is recalled, somebody opens it, or it is changed or superseded. */
export type Use = "found" | "recalled" | "opened" | "changed";

/** How often each happened to a memory, and when last, in milliseconds since 1970; 0 for never. */
export type UseCounts = Readonly<Record<Use, number> & Record<`${Use}At`, number>>;

const NONE: UseCounts = {
  ...{ found: 0, recalled: 0, opened: 0, changed: 0 },
  ...{ foundAt: 0, recalledAt: 0, openedAt: 0, changedAt: 0 },
};

export function addUse(counts: UseCounts = NONE, use: Use, at: number): UseCounts {
  return { ...counts, [use]: counts[use] + 1, [`${use}At`]: Math.max(counts[`${use}At`], at) };
}

export function addCounts(a: UseCounts, b: UseCounts): UseCounts {
  return {
    found: a.found + b.found,
    recalled: a.recalled + b.recalled,
    opened: a.opened + b.opened,
    changed: a.changed + b.changed,
    foundAt: Math.max(a.foundAt, b.foundAt),
    recalledAt: Math.max(a.recalledAt, b.recalledAt),
    openedAt: Math.max(a.openedAt, b.openedAt),
    changedAt: Math.max(a.changedAt, b.changedAt),
  };
}
