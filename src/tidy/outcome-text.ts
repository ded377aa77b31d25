import { memoryCount } from "../text/number-text.ts";

/** What tidying does to one memory, and to several. */
const EFFECTS = [
  ["superseded", "becomes history", "become history"],
  ["deleted", "is deleted permanently", "are deleted permanently"],
  ["pinned", "is pinned", "are pinned"],
  ["expiring", "expires in 30 days", "expire in 30 days"],
  ["moved", "moves to another project", "move to another project"],
] as const;

/** How many memories tidying changes in each way. */
type TidyCounts = Record<(typeof EFFECTS)[number][0], number>;

/** An outcome in words, such as `2 memories become history`; empty if nothing changes. */
export function outcomeText(counts: TidyCounts): string {
  return EFFECTS.filter(([name]) => counts[name] > 0)
    .map(
      ([name, one, several]) =>
        `${memoryCount(counts[name])} ${counts[name] === 1 ? one : several}`,
    )
    .join(", ");
}
