import { Database as Sqlite } from "bun:sqlite";
import { closeSync, openSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SharedSettings } from "../../config/shared-settings.ts";
import { connectPostgres, type Postgres } from "../../db/postgres.ts";
import { readSchemaState } from "../../db/postgres-migrations.ts";
import { migrateSqlite } from "../../db/sqlite-files.ts";
import { createBaseRecords } from "../../memories/log/postgres-bases.ts";
import type { RecordedCheckpoint } from "../../memories/log/records.ts";
import type { Contents } from "../../memories/log/shared-log.ts";
import { isNotFound, ObjectStoreError } from "../../objects/object-store-error.ts";
import { createObjects, type Objects } from "../../objects/objects.ts";
import { syncFileNow } from "../../system/files.ts";
import { forEachAtOnce } from "../../timing/at-once.ts";
import { BackupError, explainFailure } from "../backup-error.ts";
import { openScratch } from "../copy-state.ts";
import type { BackupSource } from "../source.ts";
import { copyLogFromShared, LOG_TABLES } from "./log-rows.ts";
import { copyFromShared, tablesOf } from "./rows.ts";

/** Milliseconds that a statement may take. It is longer than for requests, because nobody waits. */
const TIMEOUT_MS = 60_000;

/** The database and object store of replicas. */
export interface SharedPlace {
  postgres: Postgres;
  objects: Objects;
}

/** Connects to the database and object store for a backup or restore. */
export function connectShared({
  databaseUrl,
  objects,
}: Pick<SharedSettings, "databaseUrl" | "objects">): SharedPlace {
  return {
    postgres: connectPostgres(databaseUrl, { sessions: 2, timeoutMs: TIMEOUT_MS }),
    objects: createObjects(objects),
  };
}

/**
 * Copies a consistent state of PostgreSQL to a new SQLite database of the same schema that only its owner can
 * read. It locks nothing.
 */
export async function copySharedDatabase(postgres: Postgres, path: string): Promise<void> {
  await explainFailure(path, "written", async () => closeSync(openSync(path, "wx", 0o600)));
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

/** Concurrent downloads of bases: object stores answer slowly. */
const CONCURRENCY = 8;

/**
 * Opens the shared data of replicas as a source, even while replicas run. PostgreSQL has the checkpoints, the
 * object store has the files of the bases.
 * @param place is closed with the source
 * @param dataDir has space for some bases
 */
export async function openSharedSource(
  { postgres, objects }: SharedPlace,
  dataDir: string,
): Promise<BackupSource> {
  const scratch = await openScratch(dataDir);
  const records = createBaseRecords(postgres, () => null);
  return {
    name: "the database",
    schema: async () => (await readSchemaState(postgres))?.number ?? 0,
    copyDatabase: (path) => copySharedDatabase(postgres, path),
    async isNewest({ table, base, version }) {
      const query = "SELECT 1 FROM checkpoints WHERE name = $1 AND base = $2 AND version = $3";
      return (await postgres.rows(query, [table, base, version])).length > 0;
    },
    atOnce: CONCURRENCY,
    async withBase(checkpoint, use) {
      const memories = join(scratch.folder, "memories");
      try {
        const contents = await records.contents(checkpoint.base);
        await fetchBase(objects, { ...checkpoint, contents }, memories);
        await use(memories);
      } finally {
        await rm(join(memories, `${checkpoint.base}.lance`), { recursive: true, force: true });
      }
    },
    async close() {
      await scratch[Symbol.asyncDispose]();
      await postgres.close();
    },
  };
}

/** Downloads the files of a base that still exist. */
async function fetchBase(
  objects: Objects,
  { base, files, contents }: RecordedCheckpoint & { contents: Contents },
  memories: string,
): Promise<void> {
  await forEachAtOnce(files, async (file) => {
    const path = join(memories, `${base}.lance`, file);
    await explainFailure(path, "written", async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const expected = contents[file] ?? null;
      await explainStoreErrors(() => objects.fetch(`${base}/${file}`, path, expected)).catch(
        (error) => {
          if (!isNotFound(error)) throw error;
        },
      );
    });
  });
}

/** Translates errors of the object store to a BackupError, except that of a missing object. */
export async function explainStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof ObjectStoreError) || isNotFound(cause)) throw cause;
    throw new BackupError(`A call to the object store failed (${cause.message}).`, { cause });
  }
}
