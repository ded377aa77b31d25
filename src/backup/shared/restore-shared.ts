import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Postgres } from "../../db/postgres.ts";
import { openSqlite } from "../../db/sqlite.ts";
import { openUnmigrated } from "../../db/sqlite-files.ts";
import { requireStored } from "../../memories/base/base-objects.ts";
import type { Contents } from "../../memories/log/base-records.ts";
import { baseFolder } from "../../memories/log/names.ts";
import { type RecordedCheckpoint, readCheckpoints } from "../../memories/log/recorded.ts";
import type { Objects } from "../../objects/objects.ts";
import { explained } from "../backup-error.ts";
import { DATABASE, withScratch } from "../copy-state.ts";
import { endAccess } from "../end-access.ts";
import { forEach } from "../files.ts";
import { refuseForeignDatabase } from "../foreign-database.ts";
import type { Manifest } from "../manifest.ts";
import { openVerified, type RestoreOptions } from "../open-verified.ts";
import { requireSame } from "../verify-files.ts";
import { beginBases, fillSharedDatabase, refuseUsed } from "./fill-database.ts";
import { currentTables, type RestoredBase } from "./log-rows.ts";
import { explainStoreErrors } from "./shared-source.ts";

/** Concurrent uploads: object stores answer slowly. */
const CONCURRENCY = 16;

/**
 * Restores a backup to the shared data of replicas: an empty PostgreSQL database of this version and an object
 * store. The whole backup is checked before the first byte is written. The last step fills the database in one
 * transaction. Uploads of an interrupted restore are removed by the sweep of the servers that use the store.
 * `dataDir` needs space for the database and some files.
 * @throws BackupError or DatabaseError with one sentence for the user
 */
export async function restoreShared({
  postgres,
  objects,
  ...options
}: RestoreOptions & { postgres: Postgres; objects: Objects }): Promise<Manifest> {
  const { dataDir, clock = Date.now, revokeKeys = false, signal } = options;
  const { onProgress = () => {}, onAccessEnded = () => {} } = options;
  await refuseUsed(postgres);
  const { manifest, container } = await openVerified(options);
  const listed = new Map(manifest.files.map((file) => [file.path, file]));

  return await withScratch(dataDir, async (scratch) => {
    const extract = async (path: string, to: string) => {
      signal?.throwIfAborted();
      const file = listed.get(path);
      if (file) requireSame(file, await container.extract(file, to), container);
    };
    const path = join(scratch, DATABASE);
    await extract(DATABASE, path);
    refuseForeignDatabase(path, manifest.schema, container.locate(DATABASE));
    // Migrates a database of an earlier version.
    await openSqlite(path).close();
    const now = clock();
    const ended = endAccess(path, { revokeKeys, now });
    const sqlite = openUnmigrated(path);
    try {
      const current = currentTables(sqlite);
      const bases = readCheckpoints(sqlite)
        .filter(({ table }) => current.has(table))
        .map((checkpoint) => rename(checkpoint, listed));
      const contentsOf = ({ former, files }: RestoredBase): Contents =>
        Object.fromEntries(
          files.map((file) => {
            const { bytes = 0, sha256 = "" } = listed.get(`${baseFolder(former)}/${file}`) ?? {};
            return [file, { bytes, sha256 }];
          }),
        );
      await beginBases(postgres, { bases, now, contentsOf });
      const files = bases.flatMap((base) => base.files.map((file) => ({ ...base, file })));
      let count = 0;
      await forEach(
        files,
        async ({ base, former, file }) => {
          onProgress({ step: "uploading files", count: ++count, total: files.length });
          const local = join(scratch, base, file);
          await explained(local, "written", () => mkdir(dirname(local), { recursive: true }));
          await extract(`${baseFolder(former)}/${file}`, local);
          await explainStoreErrors(() => objects.put(`${base}/${file}`, Bun.file(local)));
          await rm(local);
        },
        CONCURRENCY,
      );
      await forEach(
        bases,
        (each) => explainStoreErrors(() => requireStored(objects, each.base, contentsOf(each))),
        CONCURRENCY,
      );
      await fillSharedDatabase(postgres, sqlite, { bases, now });
    } finally {
      sqlite.close();
    }
    onAccessEnded(ended);
    return manifest;
  });
}

/**
 * Gives a base a new name, and lists its files in the backup. The object store and local copies of replicas
 * may have the former name with later files.
 */
function rename(
  { table, base, version, files }: RecordedCheckpoint,
  listed: ReadonlyMap<string, unknown>,
): RestoredBase {
  return {
    table,
    version,
    former: base,
    base: `${table}.${randomBytes(4).toString("hex")}`,
    // An earlier version of this program removed files that it did not need.
    files: files.filter((file) => listed.has(`${baseFolder(base)}/${file}`)),
  };
}
