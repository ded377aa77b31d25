import type { MemoryRow } from "../model/rows.ts";

/**
 * Places of a cache, a power of two. Each slot has one place, which it shares with others. Successive searches of an
 * account share most of their rows.
 */
const PLACES = 1 << 13;
/** Characters up to which the row of a text is cached. */
const MAX_CHARACTERS = 2_000;

/** Caches rows by slot. */
export function createRowCache(make: (slot: number) => MemoryRow) {
  let rows: (MemoryRow | undefined)[] = [];
  /** Of each place: the slot whose row is there. */
  let slots: number[] = [];

  const peek = (slot: number): MemoryRow | undefined => {
    const place = slot & (PLACES - 1);
    return slots[place] === slot ? rows[place] : undefined;
  };

  return {
    /** The row of a slot if it is cached. */
    peek,

    get(slot: number): MemoryRow {
      const known = peek(slot);
      if (known) return known;
      const row = make(slot);
      if (row.content.length > MAX_CHARACTERS) return row;
      const place = slot & (PLACES - 1);
      rows[place] = row;
      slots[place] = slot;
      return row;
    },

    remove(slot: number): void {
      if (peek(slot)) rows[slot & (PLACES - 1)] = undefined;
    },

    clear(): void {
      rows = [];
      slots = [];
    },
  };
}
