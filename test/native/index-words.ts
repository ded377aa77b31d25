import { prepareForLanceDb } from "../../src/native/lancedb.ts";

/**
 * Indexes the words of rows of which each has its own, in a process of its own: `bun test/native/index-words.ts
 * FOLDER ROWS`.
 */
const [folder = "", rows = ""] = Bun.argv.slice(2);
prepareForLanceDb();
const { connect, Index } = await import("@lancedb/lancedb");
const connection = await connect(folder);
const words = Array.from({ length: Number(rows) }, (_, row) => ({
  words: `a${row} b${row} c${row}`,
}));
const table = await connection.createTable("words", words);
await table.createIndex("words", { config: Index.fts({ withPosition: false }) });
console.log((await table.indexStats("words_idx"))?.numIndexedRows);
process.exit(0);
