import type * as LanceDb from "@lancedb/lancedb";

/**
 * Opens a folder of LanceDB tables. Each table is a folder in it. LanceDB's own list of tables is switched off: it
 * would be one more file to back up, and it would name forgotten tables.
 * @param session the caches; closing the connection frees them
 */
export function connectTo(
  lancedb: typeof LanceDb,
  folder: string,
  session?: LanceDb.Session,
): Promise<LanceDb.Connection> {
  return lancedb.connect(
    folder,
    { namespaceClientProperties: { manifest_enabled: "false" } },
    session,
  );
}

/** What reading a whole LanceDB table found. */
export interface TableFacts {
  /** Rows at the version that was read. A long memory has several. */
  rows: number;
  memories: number;
  fragments: number;
  /** The newest `created_at` in milliseconds since 1970; `null` in an empty table. */
  newest: number | null;
  /** Rows missing from an index: the largest number of all indexes. */
  unindexed: number;
  /** The name of the model of its vectors. */
  model: string;
}

/**
 * Reads every row and every index of a LanceDB table at one version. Changes nothing.
 * @param folder holds the table's folder
 * @throws Error of LanceDB when a file that the version needs is missing or damaged
 */
export async function readWholeTable(
  lancedb: typeof LanceDb,
  folder: string,
  name: string,
  version: number,
): Promise<TableFacts> {
  // A separate session, so that no cache answers for the files of another folder.
  const connection = await connectTo(lancedb, folder, new lancedb.Session(32n << 20n, 8n << 20n));
  try {
    const table = await connection.openTable(name);
    await table.checkout(version);
    const model = (await table.schema()).metadata.get("ctxd.model") ?? "unknown";
    const none = { rows: 0, memories: 0, fragments: 0, unindexed: 0 };
    const facts: TableFacts = { ...none, newest: null, model };
    for await (const batch of table.query()) {
      facts.rows += batch.numRows;
      const passages: Iterable<number> = batch.getChild("passage") ?? [];
      for (const passage of passages) facts.memories += passage === 0 ? 1 : 0;
      const moments: Iterable<number> = batch.getChild("created_at") ?? [];
      for (const moment of moments) facts.newest = Math.max(facts.newest ?? moment, moment);
    }
    for (const { name: index, columns } of await table.listIndices()) {
      // Earlier versions indexed the content. Nothing reads that index any more.
      if (columns.includes("content")) continue;
      await table.prewarmIndex(index);
      const unindexed = (await table.indexStats(index))?.numUnindexedRows ?? 0;
      facts.unindexed = Math.max(facts.unindexed, unindexed);
    }
    facts.fragments = (await table.stats()).fragmentStats.numFragments;
    table.close();
    return facts;
  } finally {
    connection.close();
  }
}
