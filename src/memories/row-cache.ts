import { createSearchIndex, type SearchIndex } from "./indexes/search-index.ts";
import type { SearchRow } from "./rows.ts";

/**
 * Rows as searches need them, of all open tables together: reading a few hundred rows costs LanceDB
 * ten times what finding them does, and every search reads as many.
 */
export interface RowCache {
  /**
   * The rows of a table that is being opened.
   * @param dimension of its vectors
   */
  open(dimension: number): TableRows;
}

/** Rows that searches needed: those that were in memory, and those that had to be read. */
export interface Lookups {
  hits: number;
  misses: number;
}

/**
 * The rows of one table. A search finds rows by address, a number that LanceDB never uses twice; a
 * row whose address is not known any more, because upkeep has moved it, is still known by its id.
 * What searches look for is kept apart, also of rows that had to go.
 */
export interface TableRows {
  /** Those of all tables. */
  readonly lookups: Lookups;
  /** Whether a row more would make others go. */
  readonly isFull: boolean;
  /** How many are known. */
  readonly size: number;
  /** Grows with every change. */
  readonly epoch: number;
  at(address: number): SearchRow | undefined;
  get(rowId: string): SearchRow | undefined;
  /** Those of a session that are known. */
  ofSession(sessionId: string): SearchRow[];
  /** Whether the row with this id is known; from now on it is at this address. */
  move(rowId: string, address: number): boolean;
  /** Adds a row that was read, unless it may have changed since the epoch before it was read. */
  add(row: SearchRow, address: number, epoch: number): void;
  readonly index: SearchIndex;
  /** Adds a row that was read to the index alone. */
  addToIndex(row: SearchRow, epoch: number): void;
  /** Whether there is room in the index for all rows of a table with so many. */
  canIndex(rows: number): boolean;
  /** Rows are now as given, or gone. */
  change(rowIds: readonly string[], written: readonly SearchRow[]): void;
  /** Any row may be another now. */
  clear(): void;
}

/** The rows of a table that was closed, and its version then. */
export interface FormerRows {
  rows: TableRows;
  version: number;
}

interface Entry {
  row: SearchRow;
  address: number | null;
  bytes: number;
  /** How many rows had been added when it was used last. */
  used: number;
  owner: Owner;
}

/** The entries of a table. */
interface Owner {
  byId: Map<string, Entry>;
  byAddress: Map<number, Entry>;
  bySession: Map<string, Set<Entry>>;
  index: SearchIndex;
}

/** Bytes of a row besides its text and vector, about. */
const OVERHEAD = 900;
const LARGE_ROW = 100_000;
/** Bytes of a row of a few sentences in the index. */
const ROW_IN_INDEX = 1_500;
/** Changes that are remembered one by one; reads that began before older ones are not kept. */
const MAX_CHANGES = 1_000;

/** What is left of the room when it has been full. */
const KEPT = 0.75;

/**
 * Of the rows that are least recently used a quarter goes at once: keeping them in order all the
 * time costs each search half a millisecond.
 * @param most bytes of all rows together, about
 * @param mostIndexed bytes of all indexes together, about
 * @param lookups counts those of all tables
 */
export function createRowCache(
  most: number,
  mostIndexed = most,
  lookups: Lookups = { hits: 0, misses: 0 },
): RowCache {
  const entries = new Set<Entry>();
  let bytes = 0;
  const usage = { bytes: 0 };
  let additions = 0;

  const forget = (entry: Entry) => {
    if (!entries.delete(entry)) return;
    const { byId, byAddress, bySession } = entry.owner;
    const { rowId, sessionId } = entry.row;
    bytes -= entry.bytes;
    byId.delete(rowId);
    const session = bySession.get(sessionId ?? "");
    if (session?.delete(entry) && session.size === 0) bySession.delete(sessionId ?? "");
    if (entry.address !== null) byAddress.delete(entry.address);
  };

  const makeRoom = () => {
    for (const entry of [...entries].sort((a, b) => a.used - b.used)) {
      if (bytes <= KEPT * most) return;
      forget(entry);
    }
  };

  // A table that nothing refers to any more was closed.
  const closed = new FinalizationRegistry<Owner>((owner) => {
    for (const entry of [...owner.byId.values()]) forget(entry);
    owner.index.clear();
  });

  return {
    open(dimension) {
      const index = createSearchIndex(dimension, usage);
      const owner: Owner = { byId: new Map(), byAddress: new Map(), bySession: new Map(), index };
      const { byId, byAddress, bySession } = owner;
      const changes = new Map<string, number>();
      let epoch = 0;
      let forgotten = 0;

      const rowOf = (entry: Entry | undefined) => {
        if (entry) entry.used = additions;
        return entry?.row;
      };

      const putIndex = ({ rowId, vector, memory }: SearchRow) => {
        if (!vector || usage.bytes >= mostIndexed) return;
        index.add(rowId, { vector, content: memory?.content ?? null });
      };

      /** Whether what was read may be kept. */
      const isCurrent = (rowId: string, since: number) =>
        since >= Math.max(forgotten, changes.get(rowId) ?? 0);

      const put = (row: SearchRow, address: number | null) => {
        const present = byId.get(row.rowId);
        if (present) forget(present);
        const entry = { row, address, bytes: sizeOf(row), used: ++additions, owner };
        byId.set(row.rowId, entry);
        if (address !== null) byAddress.set(address, entry);
        if (row.sessionId !== null) {
          const session = bySession.get(row.sessionId) ?? new Set();
          bySession.set(row.sessionId, session.add(entry));
        }
        entries.add(entry);
        bytes += entry.bytes;
        if (bytes > most) makeRoom();
      };

      const rows: TableRows = {
        lookups,
        get isFull() {
          return bytes + LARGE_ROW > most;
        },
        get size() {
          return byId.size;
        },
        get epoch() {
          return epoch;
        },
        at: (address) => rowOf(byAddress.get(address)),
        get: (rowId) => rowOf(byId.get(rowId)),
        ofSession: (sessionId) =>
          [...(bySession.get(sessionId) ?? [])].map((entry) => {
            entry.used = additions;
            return entry.row;
          }),
        move(rowId, address) {
          const entry = byId.get(rowId);
          if (!entry) return false;
          if (entry.address !== null) byAddress.delete(entry.address);
          entry.address = address;
          byAddress.set(address, entry);
          return true;
        },
        add(row, address, since) {
          if (!isCurrent(row.rowId, since)) return;
          // Of two searches at once the one that needs no vectors may be the later.
          if (row.vector === null && byId.get(row.rowId)?.row.vector) rows.move(row.rowId, address);
          else put(row, address);
          putIndex(row);
        },
        index,
        addToIndex(row, since) {
          if (isCurrent(row.rowId, since)) putIndex(row);
        },
        canIndex(rows) {
          return usage.bytes + (rows - index.size) * ROW_IN_INDEX <= mostIndexed;
        },
        change(rowIds, written) {
          epoch++;
          if (changes.size + rowIds.length > MAX_CHANGES) {
            changes.clear();
            forgotten = epoch;
          }
          for (const rowId of rowIds) {
            changes.set(rowId, epoch);
            const present = byId.get(rowId);
            if (present) forget(present);
          }
          rowIds.forEach(index.remove);
          for (const row of written) {
            index.remove(row.rowId);
            put(row, null);
            putIndex(row);
          }
        },
        clear() {
          forgotten = ++epoch;
          for (const entry of [...byId.values()]) forget(entry);
          index.clear();
        },
      };
      closed.register(rows, owner);
      return rows;
    },
  };
}

function sizeOf({ vector, memory }: SearchRow): number {
  // A character takes one byte or two.
  const text = memory ? 2 * (memory.content.length + memory.metadata.length) : 0;
  return OVERHEAD + text + (vector?.numbers.byteLength ?? 0);
}
