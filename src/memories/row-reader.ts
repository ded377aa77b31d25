import type * as LanceDb from "@lancedb/lancedb";
import type { Table as ArrowTable } from "apache-arrow";
import { decodeAddresses, decodeIds, decodeSearchRows, SEARCH_COLUMNS } from "./decode-rows.ts";
import { type Filter, filterSql, idsSql, passes } from "./filter.ts";
import type { Accepts } from "./indexes/largest.ts";
import type { SearchIndex } from "./indexes/search-index.ts";
import type { TableRows } from "./row-cache.ts";
import { memoryIdOf, type SearchRow } from "./rows.ts";

/** Runs a query, which keeps its version from being pruned until it has answered. */
export type RunQuery = (query: { toArrow(): Promise<ArrowTable> }) => Promise<ArrowTable>;

/** Reads rows whose addresses are known, most of them from memory. */
export interface RowReader {
  /** Whether it was ever asked: what is written before is read when it is. */
  readonly isInUse: boolean;
  /** Whether there was no room to index all rows when they were read ahead. */
  readonly lacksRoom: boolean;
  /** The rows in the order of their addresses; `null` when one of them is not there any more. */
  read(addresses: readonly number[], withVectors: boolean): Promise<SearchRow[] | null>;
  /**
   * Rows that the index in memory finds, all with their vectors; `null` when it has not all rows of
   * the table, or can't tell in a moment which of them pass the filter.
   */
  lookUp(
    filter: Filter,
    find: (index: SearchIndex, accepts: Accepts) => readonly string[],
  ): Promise<SearchRow[] | null>;
  /** Rows of sessions and rows by id, from memory; `null` when not all of the table is there. */
  recall(
    wanted: { sessions: readonly string[]; ids: readonly string[] },
    filter: Filter,
    withVectors: boolean,
  ): Promise<SearchRow[] | null>;
}

/** Rows that are read at once when a table is read ahead, and the pause between, in milliseconds. */
const AHEAD = 250;
const PAUSE = 20;
/** When to try again if rows have moved meanwhile, so that some were not read, in milliseconds. */
const AGAIN = 10_000;
/** Rows up to which a filter is compared with every one, in a few milliseconds at the most. */
const FILTERED = 20_000;
/** Searches that do without `findMoved` after one in which it was of little use. */
const WITHOUT_MOVED = 20;

/** @param rows those that are known, to which the ones that are read are added */
export function createRowReader({
  table,
  countRows,
  run,
  rows,
}: {
  table: LanceDb.Table;
  countRows: () => Promise<number>;
  run: RunQuery;
  rows: TableRows;
}): RowReader {
  let hasReadAhead = false;
  let lacksRoom = false;
  let readingAhead: Promise<void> | null = null;
  let readAheadAgain = 0;
  let withoutMoved = 0;

  const isComplete = (row: SearchRow | undefined, withVectors: boolean) =>
    row !== undefined && (row.vector !== null || !withVectors);

  const count = (needed: number, unknown: number) => {
    rows.lookups.hits += needed - unknown;
    rows.lookups.misses += unknown;
  };

  const keep = (found: ArrowTable, epoch: number) => {
    const read = decodeSearchRows(found);
    for (const [index, address] of decodeAddresses(found).entries()) {
      const row = read[index];
      if (row) rows.add(row, address, epoch);
    }
    return read;
  };

  /** Knows rows again that upkeep has moved. Their ids alone are read in a fifth of the time. */
  const findMoved = async (addresses: readonly number[]) => {
    const found = await run(
      table
        .takeRowIds([...addresses])
        .withRowId()
        .select(["id"]),
    );
    const ids = decodeIds(found);
    for (const [index, address] of decodeAddresses(found).entries()) {
      rows.move(ids[index] ?? "", address);
    }
  };

  /**
   * Reads the newest rows, as many as there is room for, and indexes all. Row by row it would take
   * thirty times as long, and the first searches would wait for it.
   */
  const readAhead = async () => {
    const total = await countRows();
    const canIndex = rows.canIndex(total);
    if (rows.index.size === total || (hasReadAhead && !canIndex)) return;
    hasReadAhead = true;
    lacksRoom = !canIndex;
    for (let end = total; end > 0 && (canIndex || !rows.isFull); end -= AHEAD) {
      const { epoch } = rows;
      const offset = Math.max(0, end - AHEAD);
      const query = table.query().withRowId().select(searchColumns(true));
      const found = await run(query.offset(offset).limit(end - offset));
      // The search that found them missing waits for so few.
      if (total <= AHEAD) count(total, total);
      if (!rows.isFull) keep(found, epoch);
      else for (const row of decodeSearchRows(found)) rows.addToIndex(row, epoch);
      if (offset > 0) await Bun.sleep(PAUSE);
    }
  };

  const acceptsBy = (filter: Filter): Accepts => {
    if (filterSql(filter) === undefined) return null;
    return (rowId) => {
      const memory = rows.get(memoryIdOf(rowId))?.memory;
      return memory ? passes(filter, memory) : false;
    };
  };

  const prepare = async () => {
    if (performance.now() < readAheadAgain) return;
    // Only saves time: what it has not read is read by the search that needs it.
    readingAhead ??= readAhead()
      .catch(() => {})
      .finally(() => {
        readingAhead = null;
        readAheadAgain = performance.now() + AGAIN;
      });
    await readingAhead;
  };

  return {
    get isInUse() {
      return readingAhead !== null || readAheadAgain > 0 || rows.index.size > 0;
    },

    get lacksRoom() {
      return lacksRoom;
    },

    async read(addresses, withVectors) {
      const unknownOf = (wanted: readonly number[]) =>
        wanted.filter((address) => !isComplete(rows.at(address), withVectors));

      let unknown = unknownOf(addresses);
      if (unknown.length > 0 && --withoutMoved < 0) {
        await findMoved(unknown);
        const left = unknownOf(unknown);
        if (left.length > unknown.length / 2) withoutMoved = WITHOUT_MOVED;
        unknown = left;
      }
      count(addresses.length, unknown.length);
      if (unknown.length > 0) {
        const { epoch } = rows;
        const query = table.takeRowIds(unknown).withRowId().select(searchColumns(withVectors));
        keep(await run(query), epoch);
      }
      void prepare();
      const read: SearchRow[] = [];
      for (const address of addresses) {
        const row = rows.at(address);
        if (!row) return null;
        read.push(row);
      }
      return read;
    },

    async lookUp(filter, find) {
      const total = await countRows();
      // A few rows are read at once sooner than LanceDB's index of words is opened.
      if (rows.index.size !== total && total <= AHEAD) await prepare();
      if (rows.index.size !== total) return null;
      const accepts = acceptsBy(filter);
      if (accepts && (rows.size !== total || total > FILTERED)) return null;
      const { epoch } = rows;
      const rowIds = find(rows.index, accepts);
      const unknown = rowIds.filter((rowId) => !isComplete(rows.get(rowId), true));
      count(rowIds.length, unknown.length);
      if (unknown.length === 0) return rowIds.flatMap((rowId) => rows.get(rowId) ?? []);
      const query = table.query().where(idsSql(unknown)).withRowId();
      const read = keep(await run(query.select(searchColumns(true))), epoch);
      const byId = new Map(read.map((row) => [row.rowId, row]));
      // There may be no room to keep them.
      return rowIds.flatMap((rowId) => byId.get(rowId) ?? rows.get(rowId) ?? []);
    },

    async recall({ sessions, ids }, filter, withVectors) {
      if (rows.size !== (await countRows())) return null;
      const found = ids.map((id) => rows.get(id)).filter((row) => row !== undefined);
      const accepts = acceptsBy(filter) ?? (() => true);
      const known = [...new Set([...found, ...sessions.flatMap(rows.ofSession)])].filter((row) =>
        accepts(row.id),
      );
      if (!known.every((row) => isComplete(row, withVectors))) return null;
      count(known.length, 0);
      return known;
    },
  };
}

/** Columns from which `decodeSearchRows` makes rows. */
export function searchColumns(withVectors: boolean): string[] {
  return [...SEARCH_COLUMNS, ...(withVectors ? ["vector"] : [])];
}
