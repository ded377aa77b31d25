import type * as LanceDb from "@lancedb/lancedb";
import { idsSql } from "./filter.ts";
import { createIndexes, isSmall, rebuildIndexes } from "./table-indexes.ts";
import { partitionsFor } from "./vector-index.ts";

/** What can be done to a table's files without changing what is in it. */
export interface TableUpkeep {
  /** Merges small fragments and brings the new rows into the indexes. */
  optimize(): Promise<void>;
  /** Makes the index of vectors anew, if there is or shall be one. */
  indexVectors(): Promise<void>;
  /** Makes all other indexes anew: they keep what was deleted. */
  rebuildIndexes(): Promise<void>;
  /**
   * Moves all rows of a small table to one new fragment, so that `optimize` has none to merge. No
   * write may be under way.
   * @returns false when the table is not small
   */
  rewrite(): Promise<boolean>;
  /** Moves rows to one new fragment. No write may be under way. */
  gather(rowIds: readonly string[]): Promise<void>;
  /** Moves one row to a new fragment, so that `optimize` has two to merge. */
  touch(): Promise<void>;
  /**
   * Removes versions before this one, once the reads that may use them are done.
   * @returns whether none is left, as there may be where the clock was set back
   */
  prune(version: number): Promise<boolean>;
  /** Optimizes until there is nothing to do. No write may be under way. */
  settle(): Promise<void>;
  /** Removes all versions but the newest, of a table that is settled. */
  pruneAll(): Promise<boolean>;
  stats(): Promise<TableStats>;
}

export interface TableStats {
  rows: number;
  fragments: number;
  /** Rows that are deleted and still in the newest version's files. */
  deletedRows: number;
  /** Parts of the index of vectors; 0 when there is none. */
  vectorSegments: number;
}

/** @param reads those under way: their version must not be pruned */
export function createTableUpkeep(
  lancedb: typeof LanceDb,
  table: LanceDb.Table,
  reads: ReadonlySet<Promise<unknown>>,
): TableUpkeep {
  /** Moves rows to a new fragment: all, or those that a condition is true of. */
  const move = async (where?: string) => {
    await table.update({ ...(where && { where }), valuesSql: { passage: "passage" } });
  };

  return {
    async optimize() {
      await table.optimize();
      // When it has outgrown those of a small table.
      await createIndexes(lancedb, table);
    },

    async indexVectors() {
      const numPartitions = partitionsFor(await table.countRows());
      const config = lancedb.Index.ivfFlat({ distanceType: "dot", numPartitions });
      await table.createIndex("vector", { config, replace: true });
    },

    rebuildIndexes: () => rebuildIndexes(lancedb, table),

    async rewrite() {
      if (!(await isSmall(table))) return false;
      await move();
      return true;
    },

    async gather(rowIds) {
      if (rowIds.length > 0) await move(idsSql(rowIds));
    },

    async touch() {
      const [row] = await table.query().where("passage = 0").select(["id"]).limit(1).toArray();
      if (row) await move(idsSql([String(row.id)]));
    },

    async prune(version) {
      const kept = (await table.listVersions()).find((known) => known.version === version);
      if (!kept) return false;
      await Promise.all(reads);
      await table.optimize({ cleanupOlderThan: kept.timestamp });
      return (await table.listVersions()).every((known) => known.version >= version);
    },

    async settle() {
      // What one pass adds to the indexes, the next one merges.
      for (let passes = 0; passes < 5; passes++) {
        const before = await table.version();
        await table.optimize();
        if ((await table.version()) === before) return;
      }
    },

    async pruneAll() {
      const times = (await table.listVersions()).map(({ timestamp }) => timestamp.getTime());
      await Promise.all(reads);
      await table.optimize({ cleanupOlderThan: new Date(Math.max(...times) + 1_000) });
      return (await table.listVersions()).length === 1;
    },

    async stats() {
      const [versions, indexes] = await Promise.all([table.listVersions(), table.listIndices()]);
      const summary = versions.at(-1)?.metadata ?? {};
      return {
        rows: Number(summary.total_rows ?? 0),
        fragments: Number(summary.total_fragments ?? 0),
        deletedRows: Number(summary.total_deletion_file_rows ?? 0),
        vectorSegments: indexes.find(({ columns }) => columns.includes("vector"))?.numSegments ?? 0,
      };
    },
  };
}
