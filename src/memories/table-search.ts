import type * as LanceDb from "@lancedb/lancedb";
import type { Table as ArrowTable } from "apache-arrow";
import { aroundSql, type Filter, filterSql } from "./filter.ts";
import type { TableRows } from "./row-cache.ts";
import {
  type Candidate,
  decodeAddresses,
  decodeScores,
  decodeSearchRows,
  SEARCH_COLUMNS,
} from "./rows.ts";

/** The ways in which a search looks into a table. */
export interface TableSearch {
  /** The `limit` rows whose vectors are nearest to a vector. */
  nearest(vector: Float32Array, filter: Filter, limit: number): Promise<Candidate[]>;
  /** The `limit` memories whose words match best, with their vectors when asked. */
  matching(
    words: string,
    filter: Filter,
    limit: number,
    withVectors: boolean,
  ): Promise<Candidate[]>;
  /** Rows of sessions (of very long ones a part) and rows by id, with their vectors when asked. */
  around(
    wanted: { sessions: readonly string[]; ids: readonly string[] },
    filter: Filter,
    withVectors: boolean,
  ): Promise<Candidate[]>;
}

/** Runs a query, which keeps its version from being pruned until it has answered. */
export type RunQuery = (query: { toArrow(): Promise<ArrowTable> }) => Promise<ArrowTable>;

type Query = LanceDb.Query | LanceDb.VectorQuery;
type Score = "_distance" | "_score";

/** Rows that are read of the sessions around a search's best candidates: about 1 MB. */
const AROUND = 512;

/** @param rows those that earlier searches have read */
export function createTableSearch(
  { MatchQuery }: Pick<typeof LanceDb, "MatchQuery">,
  table: LanceDb.Table,
  run: RunQuery,
  rows: TableRows,
): TableSearch {
  /** Reads the rows that are not known yet. */
  const learn = async (addresses: readonly number[], withVectors: boolean) => {
    const isKnown = (address: number) => {
      const row = rows.get(address);
      return row && (row.vector || !withVectors);
    };
    const unknown = addresses.filter((address) => !isKnown(address));
    if (unknown.length === 0) return;
    const columns = columnsOf(withVectors);
    const found = await run(table.takeRowIds(unknown).withRowId().select(columns));
    const read = decodeSearchRows(found);
    for (const [index, address] of decodeAddresses(found).entries()) {
      const row = read[index];
      if (row) rows.set(address, row);
    }
  };

  /**
   * Searches for addresses and scores, then for the rows that have not been read before.
   * @param query makes the query, more than once
   */
  const search = async (query: () => Query, score: Score | null, withVectors: boolean) => {
    const scores = score ? [score] : [];
    const found = await run(
      query()
        .withRowId()
        .select(["_rowid", ...scores]),
    );
    const addresses = decodeAddresses(found);
    await learn(addresses, withVectors);
    const known = addresses.map((address) => rows.get(address)).filter((row) => row !== undefined);
    if (known.length === addresses.length) return withScores(known, found);
    // Upkeep has moved rows between the two queries, or a write has removed some: one query alone
    // sees one state of the table.
    const whole = await run(query().select([...columnsOf(withVectors), ...scores]));
    return withScores(decodeSearchRows(whole), whole);
  };

  return {
    nearest: (vector, filter, limit) =>
      search(
        () => {
          const query = table.query().nearestTo(vector).distanceType("dot").limit(limit);
          return narrow(query, filter);
        },
        "_distance",
        false,
      ),

    matching: (words, filter, limit, withVectors) =>
      search(
        () => {
          const match = new MatchQuery(words, "content");
          return narrow(table.query().fullTextSearch(match).limit(limit), filter);
        },
        "_score",
        withVectors,
      ),

    async around({ sessions, ids }, filter, withVectors) {
      if (sessions.length + ids.length === 0) return [];
      const sql = aroundSql({ sessions, ids }, filter);
      const limit = AROUND + ids.length;
      return search(() => table.query().where(sql).limit(limit), null, withVectors);
    },
  };
}

function columnsOf(withVectors: boolean): string[] {
  return [...SEARCH_COLUMNS, ...(withVectors ? ["vector"] : [])];
}

function withScores(rows: ReturnType<typeof decodeSearchRows>, found: ArrowTable): Candidate[] {
  const scores = decodeScores(found);
  return rows.map((row, index) => ({ ...row, ...(scores[index] ?? { cosine: null, bm25: 0 }) }));
}

/** Narrows a query before it searches, so that a limit counts only what passes the filter. */
function narrow<Narrowed extends { where(sql: string): Narrowed }>(
  query: Narrowed,
  filter: Filter,
): Narrowed {
  const sql = filterSql(filter);
  return sql === undefined ? query : query.where(sql);
}
