import { Database as Sqlite } from "bun:sqlite";
import { closeSync, openSync } from "node:fs";
import type { Postgres } from "../../db/postgres.ts";
import { migrateSqlite } from "../../db/sqlite-migrate.ts";
import type { RecordedCheckpoint } from "../../memories/log/recorded.ts";
import { syncFileNow } from "../../system/durability.ts";
import { explained } from "../backup-error.ts";
import { copyLogFromShared, LOG_TABLES } from "./log-rows.ts";
import { copyFromShared, tablesOf } from "./rows.ts";

/**
 * Copies a consistent state of PostgreSQL to a new SQLite database of the same schema that only its owner can
 * read. It locks nothing.
 */
export async function copySharedDatabase(postgres: Postgres, path: string): Promise<void> {
  await explained(path, "written", async () => closeSync(openSync(path, "wx", 0o600)));
  const sqlite = new Sqlite(path, { readwrite: true, strict: true });
  try {
    // Without a journal: a crash leaves no backup, so nothing must be undone. One sync at the end is enough.
    sqlite.run("PRAGMA journal_mode = OFF");
    sqlite.run("PRAGMA synchronous = OFF");
    migrateSqlite(sqlite);
    await postgres.transaction(async (tx) => {
      await tx.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
      for (const table of tablesOf(sqlite)) {
        if (!LOG_TABLES.has(table)) await copyFromShared(tx, sqlite, table);
      }
      await copyLogFromShared(tx, sqlite);
    });
  } finally {
    sqlite.close();
  }
  syncFileNow(path);
}

/** Whether an earlier read checkpoint is still the newest of its table. */
export async function isNewestShared(
  postgres: Postgres,
  { table, base, version }: RecordedCheckpoint,
): Promise<boolean> {
  const rows = await postgres.query(
    "SELECT 1 FROM checkpoints WHERE name = $1 AND base = $2 AND version = $3",
    [table, base, version],
  );
  return rows.length > 0;
}
