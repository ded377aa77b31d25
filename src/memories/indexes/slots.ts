import { grow } from "./growing-arrays.ts";

/** Groups of numbers, as lists that are linked in both directions. Searches walk them, so there are no iterators. */
export function createGroups() {
  // All values are numbers plus 1; 0 means none.
  let firsts = new Int32Array(0);
  let next = new Int32Array(0);
  let previous = new Int32Array(0);

  return {
    get bytes() {
      return firsts.byteLength + next.byteLength + previous.byteLength;
    },

    /** Adds a number that is not in any group. */
    add(group: number, member: number): void {
      firsts = grow(firsts, group + 1);
      next = grow(next, member + 1);
      previous = grow(previous, member + 1);
      const first = firsts[group] ?? 0;
      next[member] = first;
      previous[member] = 0;
      if (first > 0) previous[first - 1] = member + 1;
      firsts[group] = member + 1;
    },

    remove(group: number, member: number): void {
      const [after, before] = [next[member] ?? 0, previous[member] ?? 0];
      if (after > 0) previous[after - 1] = before;
      if (before > 0) next[before - 1] = after;
      else firsts[group] = after;
    },

    /** The member of a group that was added last; −1 for an empty group. */
    first: (group: number) => (firsts[group] ?? 0) - 1,
    /** The member that was added to the same group before this one; −1 for none. */
    after: (member: number) => (next[member] ?? 0) - 1,
  };
}

/** A random seed, so that no client can make keys with the same hash. */
const SEED = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
const MIN_BUCKETS = 64;

/**
 * Small whole numbers for keys. Takes a tenth of the memory of a `Map`.
 * @param keyOf returns the key of a slot; keys are stored elsewhere
 */
export function createSlots(keyOf: (slot: number) => string) {
  let buckets = createGroups();
  /** How many buckets there are, a power of two. */
  let count = MIN_BUCKETS;
  /** By slot; 0 for a slot without a key. */
  let hashes = new Int32Array(0);
  let end = 0;
  const free: number[] = [];

  const bucketOf = (hash: number) => hash & (count - 1);

  const doubleBuckets = () => {
    count *= 2;
    buckets = createGroups();
    for (let slot = 0; slot < end; slot++) {
      const hash = hashes[slot] ?? 0;
      if (hash !== 0) buckets.add(bucketOf(hash), slot);
    }
  };

  return {
    get size() {
      return end - free.length;
    },
    /** All slots are below this number. */
    get end() {
      return end;
    },
    get bytes() {
      return hashes.byteLength + buckets.bytes;
    },

    find(key: string): number | undefined {
      const hash = hashOf(key);
      for (let slot = buckets.first(bucketOf(hash)); slot >= 0; slot = buckets.after(slot)) {
        if (hashes[slot] === hash && keyOf(slot) === key) return slot;
      }
      return undefined;
    },

    /** Whether any key has a slot. */
    has: (slot: number) => (hashes[slot] ?? 0) !== 0,

    /** Returns a slot for a key that has none. Removed slots are used again, the last one first. */
    add(key: string): number {
      if (end - free.length >= count) doubleBuckets();
      const slot = free.pop() ?? end++;
      hashes = grow(hashes, slot + 1);
      const hash = hashOf(key);
      hashes[slot] = hash;
      buckets.add(bucketOf(hash), slot);
      return slot;
    },

    remove(slot: number): void {
      buckets.remove(bucketOf(hashes[slot] ?? 0), slot);
      hashes[slot] = 0;
      free.push(slot);
    },
  };
}

function hashOf(key: string): number {
  return Bun.hash.xxHash32(key, SEED) | 0 || 1;
}
