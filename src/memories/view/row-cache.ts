import type { MemoryRow } from "../rows.ts";

/** Rows that are cached. Successive searches of an account share most of their rows. */
const MAX_ROWS = 4_000;
/** Characters up to which the row of a text is cached. */
const MAX_CHARACTERS = 2_000;

/** Caches rows by slot. */
export function createRowCache(make: (slot: number) => MemoryRow) {
  const rows = new Map<number, MemoryRow>();
  return {
    get(slot: number): MemoryRow {
      const known = rows.get(slot);
      if (known) return known;
      const row = make(slot);
      if (rows.size >= MAX_ROWS) rows.clear();
      if (row.content.length <= MAX_CHARACTERS) rows.set(slot, row);
      return row;
    },
    remove: (slot: number) => rows.delete(slot),
    clear: () => rows.clear(),
  };
}
