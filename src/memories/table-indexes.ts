import type * as LanceDb from "@lancedb/lancedb";
import { STOP_STEMS } from "./indexes/tokens.ts";

/**
 * Rows up to which a table is small: all of it is read, and written again, in a few milliseconds.
 * Up to twice as many the indexes of ids, times, tags, agents and sessions save no query a
 * millisecond (measured), and making them takes most of what making a small table takes.
 */
const SMALL = 1_000;

/** Whether a table is read and written as a whole in no time. */
export async function isSmall(table: LanceDb.Table): Promise<boolean> {
  return (await table.countRows()) <= SMALL;
}

/** Makes the indexes that a table lacks. */
export async function createIndexes(lancedb: typeof LanceDb, table: LanceDb.Table): Promise<void> {
  const existing = new Set((await table.listIndices()).flatMap(({ columns }) => columns));
  for (const [column, config] of await indexesOf(lancedb, table)) {
    if (!existing.has(column)) await table.createIndex(column, { config });
  }
}

/**
 * Makes the indexes anew, all but that of vectors, and drops those that a small table can do
 * without: they keep what was deleted.
 */
export async function rebuildIndexes(lancedb: typeof LanceDb, table: LanceDb.Table): Promise<void> {
  const wanted = await indexesOf(lancedb, table);
  for (const [column, config] of wanted) await table.createIndex(column, { config, replace: true });
  if (!(await isSmall(table))) return;
  const columns = new Set(wanted.map(([column]) => column));
  for (const index of await table.listIndices()) {
    if (!index.columns.some((column) => columns.has(column))) await table.dropIndex(index.name);
  }
}

async function indexesOf(
  { Index }: typeof LanceDb,
  table: LanceDb.Table,
): Promise<[column: string, config: LanceDb.Index][]> {
  const words = Index.fts({
    // Positions would serve phrases, which no search asks for, at a third more disk.
    withPosition: false,
    // Words of Chinese, Japanese and Thai are told apart by a dictionary; the rest is cut at
    // everything that is neither letter nor digit.
    baseTokenizer: "icu/split",
    customStopWords: [...STOP_STEMS],
  });
  if (await isSmall(table)) return [["content", words]];
  return [
    ["id", Index.btree()],
    ["created_at", Index.btree()],
    ["tags", Index.labelList()],
    ["agent_id", Index.bitmap()],
    ["session_id", Index.btree()],
    ["content", words],
  ];
}
