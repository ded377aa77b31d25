import { growInts } from "./growing-arrays.ts";

/** Groups of numbers, as lists that are linked in both directions. Searches walk them, so there are no iterators. */
export interface Groups {
  readonly bytes: number;
  /** Adds a number that is not in any group. */
  add(group: number, member: number): void;
  remove(group: number, member: number): void;
  /** The member of a group that was added last; −1 for an empty group. */
  first(group: number): number;
  /** The member that was added to the same group before this one; −1 for none. */
  after(member: number): number;
}

export function createGroups(): Groups {
  // All values are numbers plus 1; 0 means none.
  let firsts = new Int32Array(0);
  let next = new Int32Array(0);
  let previous = new Int32Array(0);

  return {
    get bytes() {
      return firsts.byteLength + next.byteLength + previous.byteLength;
    },

    add(group, member) {
      firsts = growInts(firsts, group + 1);
      next = growInts(next, member + 1);
      previous = growInts(previous, member + 1);
      const first = firsts[group] ?? 0;
      next[member] = first;
      previous[member] = 0;
      if (first > 0) previous[first - 1] = member + 1;
      firsts[group] = member + 1;
    },

    remove(group, member) {
      const [after, before] = [next[member] ?? 0, previous[member] ?? 0];
      if (after > 0) previous[after - 1] = before;
      if (before > 0) next[before - 1] = after;
      else firsts[group] = after;
    },

    first: (group) => (firsts[group] ?? 0) - 1,
    after: (member) => (next[member] ?? 0) - 1,
  };
}
