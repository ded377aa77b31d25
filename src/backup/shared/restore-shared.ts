import { Database as Sqlite } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Postgres, Statements } from "../../db/postgres.ts";
import { openSqlite } from "../../db/sqlite.ts";
import { migrateSqlite, openUnmigrated } from "../../db/sqlite-files.ts";
import { AppError } from "../../errors.ts";
import { requireStored } from "../../memories/base/base-objects.ts";
import { baseFolder } from "../../memories/log/log.ts";
import { type RecordedCheckpoint, readCheckpoints } from "../../memories/log/records.ts";
import type { Contents } from "../../memories/log/shared-log.ts";
import type { Objects } from "../../objects/objects.ts";
import { forEachAtOnce } from "../../timing/at-once.ts";
import { BackupError, explainFailure } from "../backup-error.ts";
import { DATABASE_FILE, openScratch } from "../copy-state.ts";
import { endAccess } from "../end-access.ts";
import { refuseForeignDatabase } from "../foreign-database.ts";
import { openVerified, type Restored, type RestoreOptions, requireSame } from "../open-backup.ts";
import { copyLogToShared, currentTables, LOG_TABLES, type RestoredBase } from "./log-rows.ts";
import { copyToShared, tablesOf, writeShared } from "./rows.ts";
import { explainStoreErrors } from "./shared-source.ts";

/**
 * @throws BackupError when the database contains data. Rows that a server creates by itself, such as its
 *   secrets, do not count.
 */
async function refuseUsed(statements: Pick<Statements, "query">): Promise<void> {
  const [found] = await statements.query<{ used: boolean }>(
    "SELECT EXISTS (SELECT FROM accounts) OR EXISTS (SELECT FROM heads) AS used",
  );
  if (!found?.used) return;
  throw new BackupError("The database of CTXD_DATABASE_URL is not empty: choose a new one.");
}

/**
 * Records bases before their first file is uploaded, so that abandoned files can be found.
 * @param contentsOf what their files contain
 */
export async function beginBases(
  postgres: Postgres,
  bases: readonly RestoredBase[],
  now: number,
  contentsOf: (base: RestoredBase) => Contents,
): Promise<void> {
  const rows = bases.map((each) => ({
    ...{ base: each.base, name: each.table, contents: JSON.stringify(contentsOf(each)) },
    ...{ epoch: 0, since: now, state: "written" },
  }));
  await writeShared(postgres, "bases", rows);
}

/**
 * Copies all rows of a SQLite database of this version to an empty PostgreSQL database, in one transaction.
 * @param bases are in the object store, under their new names
 * @throws BackupError when the database is no longer empty
 */
export async function fillSharedDatabase(
  postgres: Postgres,
  sqlite: Sqlite,
  { bases, now }: { bases: readonly RestoredBase[]; now: number },
): Promise<void> {
  const tables = ownTables();
  await postgres.transaction(async (tx) => {
    await tx.query("LOCK TABLE accounts, heads, bases IN EXCLUSIVE MODE");
    await refuseUsed(tx);
    await recordBases(tx, bases);
    // Rows that an unused server has created by itself.
    for (const table of tables.toReversed()) await tx.query(`DELETE FROM "${table}"`);
    try {
      for (const table of tables) {
        if (!LOG_TABLES.has(table)) await copyToShared(sqlite, tx, table);
      }
      await copyLogToShared(sqlite, tx, { bases, now });
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw new BackupError(
        "The database of this backup does not match the schema of ctxd, so nothing was restored.",
        { cause },
      );
    }
  });
}

/** The database tables of this version. A foreign database may have others, which are ignored. */
function ownTables(): string[] {
  using model = new Sqlite(":memory:");
  migrateSqlite(model);
  return tablesOf(model);
}

/**
 * Marks bases as recorded.
 * @throws BackupError when a running server removed some as abandoned
 */
async function recordBases(
  tx: Pick<Statements, "query">,
  bases: readonly RestoredBase[],
): Promise<void> {
  const recorded = await tx.query(
    `UPDATE bases SET state = 'recorded'
     WHERE base = ANY (ARRAY(SELECT json_array_elements_text($1::text::json))) AND state = 'written'
     RETURNING 1`,
    [JSON.stringify(bases.map(({ base }) => base))],
  );
  if (recorded.length === bases.length) return;
  throw new BackupError("A server uses this database: stop all servers, and restore again.");
}

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
}: RestoreOptions & { postgres: Postgres; objects: Objects }): Promise<Restored> {
  const { dataDir, clock = Date.now, revokeKeys = false, signal, onProgress } = options;
  await refuseUsed(postgres);
  const { manifest, container } = await openVerified(options);
  const listed = new Map(manifest.files.map((file) => [file.path, file]));

  await using scratch = await openScratch(dataDir);
  const extract = async (path: string, to: string) => {
    signal?.throwIfAborted();
    const file = listed.get(path);
    if (file) requireSame(file, await container.extract(file, to), container);
  };
  const path = join(scratch.folder, DATABASE_FILE);
  await extract(DATABASE_FILE, path);
  refuseForeignDatabase(path, manifest.schema, container.locate(DATABASE_FILE));
  // Migrates a database of an earlier version.
  await openSqlite(path).close();
  const now = clock();
  const ended = endAccess(path, { revokeKeys, now });
  using sqlite = openUnmigrated(path);
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
  await beginBases(postgres, bases, now, contentsOf);
  const files = bases.flatMap((base) => base.files.map((file) => ({ ...base, file })));
  let count = 0;
  await forEachAtOnce(
    files,
    async ({ base, former, file }) => {
      onProgress?.({ step: "uploading files", count: ++count, total: files.length });
      const local = join(scratch.folder, base, file);
      await explainFailure(local, "written", () => mkdir(dirname(local), { recursive: true }));
      await extract(`${baseFolder(former)}/${file}`, local);
      await explainStoreErrors(() => objects.put(`${base}/${file}`, Bun.file(local)));
      await rm(local);
    },
    CONCURRENCY,
  );
  await forEachAtOnce(
    bases,
    (each) => explainStoreErrors(() => requireStored(objects, each.base, contentsOf(each))),
    CONCURRENCY,
  );
  await fillSharedDatabase(postgres, sqlite, { bases, now });
  return { manifest, ended };
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
