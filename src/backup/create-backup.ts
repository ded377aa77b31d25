import type { Database as Sqlite } from "bun:sqlite";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type * as LanceDb from "@lancedb/lancedb";
import { databasePath } from "../db/database.ts";
import { MIGRATIONS } from "../db/migrations.ts";
import { copyDatabase, openAsItIs, schemaOf } from "../db/snapshot.ts";
import { type RecordedCheckpoint, readCheckpoints, tableFolder } from "../memories/checkpoints.ts";
import { readWholeTable } from "../memories/table-check.ts";
import { BackupError, explained } from "./backup-error.ts";
import { type Content, readContent, syncFolder, syncFolders } from "./files.ts";
import { type Manifest, writeManifest } from "./manifest.ts";
import { isWithin } from "./paths.ts";
import { copyTables } from "./table-copies.ts";
import { UNFINISHED } from "./unfinished-restore.ts";

/** What a long job tells while it goes on. */
export type Progress = (done: { step: string; count: number; total: number }) => void;

/** Each round copies only what is new, so each is shorter than the one before. */
const MAX_ROUNDS = 12;
const DATABASE = "ctxd.db";

/**
 * Copies a data folder as it is at one moment, whether a server writes to it or not: the database,
 * and the files of each table that the checkpoints in that copy list. The server's recovery makes
 * of them what the journal in the copy says. Everything is on the disk when this returns.
 * @param folder must be missing or empty; when this fails, it is so again
 * @throws BackupError or DatabaseError with one sentence for the user
 */
export async function createBackup(options: {
  dataDir: string;
  folder: string;
  /** Of this program. */
  version: string;
  lancedb: typeof LanceDb;
  clock: () => number;
  signal?: AbortSignal;
  onProgress?: Progress;
}): Promise<Manifest> {
  const { dataDir, folder } = options;
  refuseSource(dataDir);
  const existed = await claim(folder, dataDir);
  try {
    const live = openAsItIs(databasePath(dataDir));
    try {
      return await fill(live, options);
    } finally {
      live.close();
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (existed) await mkdir(folder, { mode: 0o700 });
    throw error;
  }
}

async function fill(
  live: Sqlite,
  {
    dataDir,
    folder,
    version,
    lancedb,
    clock,
    signal,
    onProgress = () => {},
  }: Parameters<typeof createBackup>[0],
): Promise<Manifest> {
  const schema = schemaOf(live);
  refuseSchema(schema, dataDir);
  const { copied, checkpoints, accounts, createdAt } = await copyAll();

  for (const [count, { table, version: wanted }] of checkpoints.entries()) {
    signal?.throwIfAborted();
    onProgress({ step: "checking tables", count, total: checkpoints.length });
    await verifyTable(lancedb, folder, table, wanted);
  }
  await explained(folder, "written", () => syncFolders(folder));
  const manifest = await writeManifest(folder, {
    ctxd: version,
    created_at: createdAt,
    schema,
    accounts,
    tables: checkpoints.length,
    files: [...copied]
      .map(([path, { bytes, sha256 }]) => ({ path, bytes, sha256 }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  });
  await explained(folder, "written", () => syncFolder(join(folder, "..")));
  return manifest;

  /** Copies until database and tables are of one moment. */
  async function copyAll() {
    const copied = new Map<string, Content>();
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const createdAt = new Date(clock()).toISOString();
      const { database, ...state } = await copyState(live, join(folder, DATABASE));
      copied.set(DATABASE, database);
      const isComplete = await copyTables({
        ...{ live, dataDir, folder, copied, signal },
        checkpoints: state.checkpoints,
        onFile: (count, total) => onProgress({ step: "copying files", count, total }),
      });
      if (isComplete) return { copied, createdAt, ...state };
    }
    throw new BackupError(
      `The memories change faster than ${folder} can be written: choose a faster disk, or a quieter time.`,
    );
  }
}

/** Copies the database, and reads the copy: what it holds, and whether it is sound. */
async function copyState(live: Sqlite, path: string) {
  await rm(path, { force: true });
  copyDatabase(live, path);
  const copy = openAsItIs(path);
  try {
    const problem = copy.query("PRAGMA integrity_check(1)").values().flat()[0];
    if (problem !== "ok") throw new BackupError(`The database is damaged: ${problem}.`);
    const accounts = copy.query<{ n: number }, []>("SELECT count(*) AS n FROM accounts").get()?.n;
    const checkpoints: RecordedCheckpoint[] = readCheckpoints(copy);
    const database = await readContent(path);
    if (database === null) throw new BackupError(`${path} has been removed.`);
    return { database, checkpoints, accounts: accounts ?? 0 };
  } finally {
    copy.close();
  }
}

async function verifyTable(
  lancedb: typeof LanceDb,
  folder: string,
  table: string,
  version: number,
): Promise<void> {
  try {
    await readWholeTable(lancedb, join(folder, "memories"), table, version);
  } catch (cause) {
    throw new BackupError(
      `The table ${tableFolder(table)} is damaged, so nothing was backed up: ctxd doctor tells more.`,
      { cause },
    );
  }
}

function refuseSource(dataDir: string): void {
  if (existsSync(join(dataDir, UNFINISHED))) {
    throw new BackupError(
      `A restore into ${dataDir} is under way or was cut off: finish it first.`,
    );
  }
  if (existsSync(databasePath(dataDir))) return;
  throw new BackupError(`There is nothing to back up: ${dataDir} has no data.`);
}

function refuseSchema(schema: number, dataDir: string): void {
  if (schema === MIGRATIONS.length) return;
  const age = schema > MIGRATIONS.length ? "a newer" : "an older";
  throw new BackupError(
    `The data in ${dataDir} is that of ${age} ctxd: back it up with that version${schema < MIGRATIONS.length ? ", or start this one first" : ""}.`,
  );
}

/** Makes the folder, or takes an empty one. Returns whether it was there. */
async function claim(folder: string, dataDir: string): Promise<boolean> {
  if (await isWithin(folder, dataDir)) {
    throw new BackupError(`${folder} is inside the data folder: choose a place outside it.`);
  }
  return await explained(folder, "written", async () => {
    const existed = existsSync(folder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if ((await readdir(folder)).length > 0) {
      throw new BackupError(`${folder} is not empty: choose a new folder.`);
    }
    await chmod(folder, 0o700);
    return existed;
  });
}
