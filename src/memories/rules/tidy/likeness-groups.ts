import { createPause } from "../../../timing/pause.ts";
import type { Likeness } from "../../log/likenesses/likenesses.ts";
import { compareIn } from "../../model/filter.ts";
import type { MemoryRow } from "../../model/rows.ts";

/** Memories of one group at most. The others form groups once these are tidied. */
const MOST = 50;

const newestFirst = compareIn("newest");
/** The memory to keep of several that say the same comes first. */
const byWorth = (a: MemoryRow, b: MemoryRow) =>
  Number(b.pinned) - Number(a.pinned) || newestFirst(a, b);

/** A pair of memories as they are. */
interface Pair {
  readonly later: MemoryRow;
  readonly earlier: MemoryRow;
}

/** The pairs of a kind whose memories belong to one project and have not changed since they were compared. */
export async function pairsOf(
  likenesses: readonly Likeness[],
  kind: Likeness["kind"],
  rows: ReadonlyMap<string, MemoryRow>,
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  const pause = createPause();
  for (const each of likenesses) {
    await pause();
    const [later, earlier] = [rows.get(each.later), rows.get(each.earlier)];
    if (each.kind !== kind || !later || !earlier || later.project !== earlier.project) continue;
    const isAsCompared = Math.max(later.updatedAt, earlier.updatedAt) === each.changedAt;
    if (isAsCompared) pairs.push({ later, earlier });
  }
  return pairs;
}

/** Groups of memories that say the same, each with the memory to keep first. */
export async function restatementGroups(pairs: readonly Pair[]): Promise<MemoryRow[][]> {
  const leaders = new Map<string, string>();
  const leaderOf = (id: string): string => {
    let leader = id;
    for (let next = leaders.get(leader); next !== undefined; next = leaders.get(leader)) {
      leader = next;
    }
    if (leader !== id) leaders.set(id, leader);
    return leader;
  };
  const rows = new Map<string, MemoryRow>();
  const pause = createPause();
  for (const { later, earlier } of pairs) {
    await pause();
    rows.set(later.id, later);
    rows.set(earlier.id, earlier);
    const [one, other] = [leaderOf(later.id), leaderOf(earlier.id)];
    if (one !== other) leaders.set(one, other);
  }
  const groups = Map.groupBy(rows.values(), ({ id }) => leaderOf(id));
  return [...groups.values()]
    .map((group) => group.sort(byWorth).slice(0, MOST))
    .sort(([a], [b]) => (a && b ? newestFirst(a, b) : 0));
}

/**
 * Groups of a memory and the earlier ones whose fact it changes. Each memory is in one group: that of the newest memory
 * that changes its fact.
 */
export async function contradictionGroups(pairs: readonly Pair[]): Promise<MemoryRow[][]> {
  const changed = Map.groupBy(pairs, ({ later }) => later);
  const laters = [...changed.keys()].sort(newestFirst);
  const taken = new Set<string>();
  const groups: MemoryRow[][] = [];
  const pause = createPause();
  for (const later of laters) {
    await pause();
    if (taken.has(later.id)) continue;
    const pairs = changed.get(later) ?? [];
    const earlier = pairs.map((pair) => pair.earlier).filter(({ id }) => !taken.has(id));
    if (earlier.length === 0) continue;
    const group = [later, ...earlier.sort(newestFirst)].slice(0, MOST);
    for (const { id } of group) taken.add(id);
    groups.push(group);
  }
  return groups;
}
