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
 * Writes what PostgreSQL has at one moment to a new SQLite database of the same schema, for its owner
 * alone. Nobody waits for it.
 */
export async function copySharedDatabase(postgres: Postgres, path: string): Promise<void> {
  await explained(path, "written", async () => closeSync(openSync(path, "wx", 0o600)));
  const sqlite = new Sqlite(path, { readwrite: true, strict: true });
  try {
    // What a crash leaves is no backup: there is nothing to undo, and one sync is enough.
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

/** Whether a checkpoint that was read before is still the table's newest. */
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
