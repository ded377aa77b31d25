import type * as LanceDb from "@lancedb/lancedb";
import type { Table as ArrowTable } from "apache-arrow";
import type { TableRows } from "./row-cache.ts";
import {
  decodeAddresses,
  decodeIds,
  decodeSearchRows,
  SEARCH_COLUMNS,
  type SearchRow,
} from "./rows.ts";

/** Runs a query, which keeps its version from being pruned until it has answered. */
export type RunQuery = (query: { toArrow(): Promise<ArrowTable> }) => Promise<ArrowTable>;

/** Reads rows whose addresses are known, most of them from memory. */
export interface RowReader {
  /** The rows in the order of their addresses; `null` when one of them is not there any more. */
  read(addresses: readonly number[], withVectors: boolean): Promise<SearchRow[] | null>;
  /** Rows of sessions and rows by id, from memory; `null` when not all of the table is there. */
  recall(
    wanted: { sessions: readonly string[]; ids: readonly string[] },
    withVectors: boolean,
  ): Promise<SearchRow[] | null>;
}

/** Rows that are read at once when a table is read ahead, and the pause between, in milliseconds. */
const AHEAD = 250;
const PAUSE = 20;
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
  let isReadAhead = false;
  let withoutMoved = 0;

  const isComplete = (row: SearchRow | undefined, withVectors: boolean) =>
    row !== undefined && (row.vector !== null || !withVectors);

  const keep = (found: ArrowTable, epoch: number) => {
    const read = decodeSearchRows(found);
    for (const [index, address] of decodeAddresses(found).entries()) {
      const row = read[index];
      if (row) rows.add(row, address, epoch);
    }
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
   * Reads the newest rows, as many as there is room for. Row by row it would take thirty times as
   * long, and the first searches would wait for it.
   */
  const readAhead = async () => {
    const total = await countRows();
    for (let end = total; end > 0 && !rows.isFull; end -= AHEAD) {
      const { epoch } = rows;
      const offset = Math.max(0, end - AHEAD);
      const query = table.query().withRowId().select(searchColumns(true));
      keep(await run(query.offset(offset).limit(end - offset)), epoch);
      await Bun.sleep(PAUSE);
    }
  };

  return {
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
      if (unknown.length > 0) {
        const { epoch } = rows;
        const query = table.takeRowIds(unknown).withRowId().select(searchColumns(withVectors));
        keep(await run(query), epoch);
      }
      if (!isReadAhead) {
        isReadAhead = true;
        // Only saves time: what it has not read is read by the search that needs it.
        void readAhead().catch(() => {});
      }
      const read: SearchRow[] = [];
      for (const address of addresses) {
        const row = rows.at(address);
        if (!row) return null;
        read.push(row);
      }
      return read;
    },

    async recall({ sessions, ids }, withVectors) {
      if (rows.size !== (await countRows())) return null;
      const found = ids.map((id) => rows.get(id)).filter((row) => row !== undefined);
      const known = [...new Set([...found, ...sessions.flatMap(rows.ofSession)])];
      return known.every((row) => isComplete(row, withVectors)) ? known : null;
    },
  };
}

/** Columns from which `decodeSearchRows` makes rows. */
export function searchColumns(withVectors: boolean): string[] {
  return [...SEARCH_COLUMNS, ...(withVectors ? ["vector"] : [])];
}
