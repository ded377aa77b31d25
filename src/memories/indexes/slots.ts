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

/** Small whole numbers for keys. Takes a tenth of the memory of a `Map`. */
interface Slots {
  /** How many keys there are. */
  readonly size: number;
  /** All slots are below this number. */
  readonly end: number;
  /** Bytes of memory that the slots take. */
  readonly bytes: number;
  /** The slot of a key, if it has one. */
  find(key: string): number | undefined;
  /** Whether any key has a slot. */
  has(slot: number): boolean;
  /** Returns a slot for a key that has none. Removed slots are used again. */
  add(key: string): number;
  remove(slot: number): void;
}

/** A random seed, so that no client can make keys with the same hash. */
const SEED = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
const MIN_BUCKETS = 64;

/** @param keyOf returns the key of a slot; keys are stored elsewhere */
export function createSlots(keyOf: (slot: number) => string): Slots {
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
    get end() {
      return end;
    },
    get bytes() {
      return hashes.byteLength + buckets.bytes;
    },

    find(key) {
      const hash = hashOf(key);
      for (let slot = buckets.first(bucketOf(hash)); slot >= 0; slot = buckets.after(slot)) {
        if (hashes[slot] === hash && keyOf(slot) === key) return slot;
      }
      return undefined;
    },

    has: (slot) => (hashes[slot] ?? 0) !== 0,

    add(key) {
      if (end - free.length >= count) doubleBuckets();
      const slot = free.pop() ?? end++;
      hashes = growInts(hashes, slot + 1);
      const hash = hashOf(key);
      hashes[slot] = hash;
      buckets.add(bucketOf(hash), slot);
      return slot;
    },

    remove(slot) {
      buckets.remove(bucketOf(hashes[slot] ?? 0), slot);
      hashes[slot] = 0;
      free.push(slot);
    },
  };
}

function hashOf(key: string): number {
  return Bun.hash.xxHash32(key, SEED) | 0 || 1;
}
