import type * as LanceDb from "@lancedb/lancedb";
import type { Checkpoint } from "../log/records.ts";
import type { Filter } from "../model/filter.ts";
import { valueSql } from "./filter-sql.ts";

/** Columns in which most bases have no value. */
type RareColumn = "superseded_by" | "expires_at";

/** The version of a LanceDB table that is read. LanceDB never changes it. */
export interface LanceVersion {
  readonly checkpoint: Checkpoint;
  readonly rows: number;
  /** Whether it has the indexes that a search needs. */
  readonly isIndexed: boolean;
  /**
   * A filter without the conditions that all rows meet. LanceDB checks each condition for each row, which takes
   * as long as a search.
   */
  simplify(filter: Filter): Promise<Filter>;
}

/**
 * @param table has checked out the checkpoint's version
 * @param has whether the table has a column
 */
export async function readVersion(
  table: LanceDb.Table,
  checkpoint: Checkpoint,
  has: (column: string) => boolean,
): Promise<LanceVersion> {
  const indexed = (await table.listIndices()).flatMap(({ columns }) => columns);
  /** Whether any row has a value in a column, as far as a search needed to know. */
  const used = new Map<RareColumn, Promise<boolean>>();

  const isUsed = (column: RareColumn): Promise<boolean> => {
    if (!has(column)) return Promise.resolve(false);
    const known = used.get(column) ?? table.countRows(valueSql(column)).then((rows) => rows > 0);
    used.set(column, known);
    known.catch(() => used.delete(column));
    return known;
  };

  return {
    checkpoint,
    rows: await table.countRows(),
    isIndexed:
      indexed.includes("id") && ["words", "content"].some((each) => indexed.includes(each)),

    simplify: async ({ isCurrent, aliveAt, ...filter }) => ({
      ...filter,
      ...(isCurrent && (await isUsed("superseded_by")) && { isCurrent }),
      ...(aliveAt !== undefined && (await isUsed("expires_at")) && { aliveAt }),
    }),
  };
}
