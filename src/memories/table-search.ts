import type * as LanceDb from "@lancedb/lancedb";
import type { Table as ArrowTable } from "apache-arrow";
import { decodeAddresses, decodeScores, decodeSearchRows } from "./decode-rows.ts";
import { aroundSql, type Filter, filterSql } from "./filter.ts";
import { cosineOf } from "./ranking/cosine.ts";
import { type RowReader, type RunQuery, searchColumns } from "./row-reader.ts";
import type { Candidate, SearchRow } from "./rows.ts";
import { partitionsToSearch } from "./vector-index.ts";

/** The ways in which a search looks into a table. */
export interface TableSearch {
  /** The `limit` rows whose vectors are nearest to a vector, or about. */
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

type Query = LanceDb.Query | LanceDb.VectorQuery;
type Find = Parameters<RowReader["lookUp"]>[1];
type Score = "_distance" | "_score";

/** Rows that are read of the sessions around a search's best candidates: about 1 MB. */
const AROUND = 512;

/** @param reader of rows that were found */
export function createTableSearch(
  { MatchQuery }: Pick<typeof LanceDb, "MatchQuery">,
  {
    table,
    countRows,
    run,
    reader,
  }: { table: LanceDb.Table; countRows: () => Promise<number>; run: RunQuery; reader: RowReader },
): TableSearch {
  /**
   * Searches for addresses and scores, then for the rows that are not in memory.
   * @param query makes the query, more than once
   */
  const search = async (query: () => Query, score: Score | null, withVectors: boolean) => {
    const scores = score ? [score] : [];
    const found = await run(
      query()
        .withRowId()
        .select(["_rowid", ...scores]),
    );
    const rows = await reader.read(decodeAddresses(found), withVectors);
    if (rows) return withScores(rows, found);
    // Upkeep has moved rows between the two queries, or a write has removed some: one query alone
    // sees one state of the table.
    const whole = await run(query().select([...searchColumns(withVectors), ...scores]));
    return withScores(decodeSearchRows(whole), whole);
  };

  return {
    async nearest(vector, filter, limit) {
      const find: Find = (index, accepts) => index.nearest(vector, limit, accepts);
      const known = await reader.lookUp(filter, find);
      if (known) {
        const found = known.map((row) => ({ ...row, cosine: cosineOf(row, vector), bm25: 0 }));
        return found.sort((a, b) => (b.cosine ?? 0) - (a.cosine ?? 0));
      }
      const parts = partitionsToSearch(await countRows());
      const query = () => {
        const nearest = table.query().nearestTo(vector).distanceType("dot");
        return narrow(nearest.nprobes(parts).limit(limit), filter);
      };
      return search(query, "_distance", false);
    },

    async matching(words, filter, limit, withVectors) {
      const bm25 = new Map<string, number>();
      const find: Find = (index, accepts) =>
        index.matching(words, limit, accepts).map((match) => {
          bm25.set(match.id, match.bm25);
          return match.id;
        });
      const known = await reader.lookUp(filter, find);
      if (known) {
        return known.map((row) => ({ ...row, cosine: null, bm25: bm25.get(row.rowId) ?? 0 }));
      }
      return search(
        () => {
          const match = new MatchQuery(words, "content");
          return narrow(table.query().fullTextSearch(match).limit(limit), filter);
        },
        "_score",
        withVectors,
      );
    },

    async around({ sessions, ids }, filter, withVectors) {
      if (sessions.length + ids.length === 0) return [];
      const limit = AROUND + ids.length;
      const wanted = { sessions, ids };
      const known = await reader.recall(wanted, filter, withVectors);
      if (known) return known.slice(0, limit).map((row) => ({ ...row, cosine: null, bm25: 0 }));
      const sql = aroundSql(wanted, filter);
      return search(() => table.query().where(sql).limit(limit), null, withVectors);
    },
  };
}

function withScores(rows: readonly SearchRow[], found: ArrowTable): Candidate[] {
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
