import type { SearchRow } from "./rows.ts";

/**
 * Rows that searches have read, of all open tables together: reading a row costs LanceDB ten times
 * what finding it does, and every search reads hundreds. A row is known by its address, a number
 * that LanceDB never gives to another and whose row never changes (a changed row, or one that
 * upkeep moves, gets a new address): nothing here ever has to be forgotten to stay right.
 */
export interface RowCache {
  /** The rows of a table that is being opened. */
  open(): TableRows;
}

/** The rows of one table. */
export interface TableRows {
  get(address: number): SearchRow | undefined;
  set(address: number, row: SearchRow): void;
}

interface Entry {
  row: SearchRow;
  bytes: number;
  remove(): void;
}

/** Bytes of a row besides its text and vector, about. */
const OVERHEAD = 800;

/** @param most bytes of all rows together, about; the least recently used go first */
export function createRowCache(most: number): RowCache {
  /** In the order of last use. */
  const used = new Set<Entry>();
  let bytes = 0;

  const forget = (entry: Entry) => {
    if (!used.delete(entry)) return;
    bytes -= entry.bytes;
    entry.remove();
  };

  return {
    open() {
      const entries = new Map<number, Entry>();
      return {
        get(address) {
          const entry = entries.get(address);
          if (!entry) return undefined;
          used.delete(entry);
          used.add(entry);
          return entry.row;
        },
        set(address, row) {
          const present = entries.get(address);
          if (present) forget(present);
          const entry = { row, bytes: sizeOf(row), remove: () => entries.delete(address) };
          entries.set(address, entry);
          used.add(entry);
          bytes += entry.bytes;
          for (const oldest of used) {
            if (bytes <= most) return;
            forget(oldest);
          }
        },
      };
    },
  };
}

function sizeOf({ vector, memory }: SearchRow): number {
  // A character takes one byte or two.
  const text = memory ? 2 * (memory.content.length + memory.metadata.length) : 0;
  return OVERHEAD + text + (vector?.byteLength ?? 0);
}
