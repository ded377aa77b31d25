import { Database as Sqlite } from "bun:sqlite";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { databasePath } from "../../src/db/data-lock.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { openSqlite } from "../../src/db/sqlite.ts";
import { migrateSqlite } from "../../src/db/sqlite-files.ts";
import { connectTo } from "../../src/memories/base/connection.ts";
import { baseFolder } from "../../src/memories/log/log.ts";
import type { Checkpoint } from "../../src/memories/log/records.ts";
import { createSqliteLog } from "../../src/memories/log/sqlite-log.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { testCacheDir } from "./embedder.ts";
import { listFiles } from "./files.ts";

/** How many migrations the version before bases had seen. */
export const EARLIER = 12;

/** A data folder of the version before bases, whose database a test fills. */
export function earlierDatabase(dataDir: string, fill: (sqlite: Sqlite) => void): void {
  mkdirSync(dataDir, { recursive: true });
  const sqlite = new Sqlite(databasePath(dataDir), { create: true });
  sqlite.run("PRAGMA journal_mode = WAL");
  migrateSqlite(sqlite, MIGRATIONS.slice(0, EARLIER));
  fill(sqlite);
  sqlite.close();
}

/** Opens what is recorded of a data folder, without the server's work on it. */
export function openRecorded(dataDir: string) {
  const db = openSqlite(databasePath(dataDir));
  return {
    sqlite: db.sqlite,
    log: createSqliteLog({ db }),
    accounts: createAccounts({ db, clock: Date.now }),
    [Symbol.dispose]: () => db.close(),
  };
}

/** Writes a LanceDB table with a number of memories as a base, and returns its checkpoint. */
export async function writeBase(
  dataDir: string,
  base: string,
  rows: number,
  { isIndexed = false }: { isIndexed?: boolean } = {},
): Promise<Checkpoint> {
  const lancedb = await loadLanceDb(testCacheDir);
  const connection = await connectTo(lancedb, join(dataDir, "memories"));
  const memories = Array.from({ length: rows }, (_, n) => ({ id: `mem_${n}`, passage: 0 }));
  const table = await connection.createTable(base, memories);
  if (isIndexed) await table.createIndex("id", { config: lancedb.Index.btree() });
  const version = await table.version();
  table.close();
  connection.close();
  return { base, version, files: await filesOf(dataDir, base), upTo: 0 };
}

/** All files of a base, in the order of their names. */
export async function filesOf(dataDir: string, base: string): Promise<string[]> {
  const folder = join(dataDir, baseFolder(base));
  if (!existsSync(folder)) return [];
  // LanceDB's hint is the one file that changes, and belongs to no version.
  return (await listFiles(folder)).filter((file) => !file.endsWith("_hint.json"));
}
