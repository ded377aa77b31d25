import { createGroups } from "./groups.ts";
import { growInts } from "./growing-arrays.ts";

/** Small whole numbers for keys: a map of them in a tenth of its memory. */
export interface Slots {
  /** How many keys there are. */
  readonly size: number;
  /** All slots are below it. */
  readonly end: number;
  /** Bytes of memory that they take. */
  readonly bytes: number;
  /** The slot of a key, if it has one. */
  find(key: string): number | undefined;
  /** Whether any key has a slot. */
  has(slot: number): boolean;
  /** Gives a slot to a key that has none. Those that were removed are used again. */
  add(key: string): number;
  remove(slot: number): void;
}

/** Nobody outside can make keys that have the same hash. */
const SEED = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
const FEWEST = 64;

/** @param keyOf the key of a slot, which is not kept here */
export function createSlots(keyOf: (slot: number) => string): Slots {
  let buckets = createGroups();
  /** How many buckets there are, a power of two. */
  let count = FEWEST;
  /** By slot; 0 where nothing has it. */
  let hashes = new Int32Array(0);
  let end = 0;
  const free: number[] = [];

  const bucketOf = (hash: number) => hash & (count - 1);

  const spread = () => {
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
      for (const slot of buckets.members(bucketOf(hash))) {
        if (hashes[slot] === hash && keyOf(slot) === key) return slot;
      }
      return undefined;
    },

    has: (slot) => (hashes[slot] ?? 0) !== 0,

    add(key) {
      if (end - free.length >= count) spread();
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
