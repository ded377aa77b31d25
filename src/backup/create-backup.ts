import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type * as LanceDb from "@lancedb/lancedb";
import { MIGRATIONS } from "../db/migrations.ts";
import { readWholeTable } from "../memories/base/connection.ts";
import { baseFolder } from "../memories/log/log.ts";
import type { RecordedCheckpoint } from "../memories/log/records.ts";
import type { FileDigest } from "../system/file-digest.ts";
import { syncFolder } from "../system/files.ts";
import { forEachAtOnce } from "../timing/at-once.ts";
import { createKey, type Lock } from "./age.ts";
import { BackupError, explainFailure } from "./backup-error.ts";
import { type Container, createPlainContainer, createSealedContainer } from "./container.ts";
import { copyState, DATABASE_FILE } from "./copy-state.ts";
import { syncFolders } from "./files.ts";
import { completeManifest, formatManifest, isWithin, type Manifest } from "./manifest.ts";
import { type BackupSource, openDataFolder } from "./source.ts";

/** A backup that is being created. */
interface Job {
  readonly options: BackupOptions;
  readonly source: BackupSource;
  readonly container: Container;
  readonly copied: Map<string, FileDigest>;
}

/**
 * Copies the files that checkpoints list, except those that are copied already: LanceDB never changes a file.
 *
 * A listed file may be missing. If the checkpoint is still the newest of its table, an earlier version of
 * this program removed the file because it was not needed. Otherwise the whole base may be gone, and the copy
 * of the database with this checkpoint is out of date.
 * @returns whether everything that the checkpoints need is copied. If not, continue with newer ones.
 */
async function copyTables(job: Job, checkpoints: readonly RecordedCheckpoint[]): Promise<boolean> {
  const { source, container, copied, options } = job;
  const listed = new Set(
    checkpoints.flatMap((each) => each.files.map((file) => pathOf(each, file))),
  );
  await removeUnlisted(container, listed, copied);
  let count = 0;
  const onFile = () =>
    options.onProgress?.({ step: "copying files", count: ++count, total: listed.size });
  let isComplete = true;
  await forEachAtOnce(
    checkpoints,
    async (checkpoint) => {
      if (!(await copyBase(checkpoint)) && !(await source.isNewest(checkpoint))) isComplete = false;
    },
    source.atOnce,
  );
  return isComplete;

  /** @returns whether the whole base is copied and readable */
  async function copyBase(checkpoint: RecordedCheckpoint): Promise<boolean> {
    const missing = checkpoint.files.filter((file) => !copied.has(pathOf(checkpoint, file)));
    for (let known = checkpoint.files.length - missing.length; known > 0; known--) onFile();
    if (missing.length === 0) return true;
    let isWhole = true;
    await source.withBase(checkpoint, async (memories) => {
      await forEachAtOnce(missing, async (file) => {
        options.signal?.throwIfAborted();
        onFile();
        const path = pathOf(checkpoint, file);
        const from = join(memories, `${checkpoint.base}.lance`, file);
        const content = await container.add(from, path);
        if (content) copied.set(path, content);
        else isWhole = false;
      });
      // Encrypted copies can't be read, so the original is checked.
      if (!options.lock) return;
      // A file that disappears meanwhile fails the check too. Then a newer checkpoint exists.
      await checkTable(options.lancedb, checkpoint, memories).catch(async (error) => {
        if (await source.isNewest(checkpoint)) throw error;
        isWhole = false;
      });
    });
    return isWhole;
  }
}

/** @throws BackupError for a table that is damaged */
async function checkTable(
  lancedb: typeof LanceDb,
  { base, version }: RecordedCheckpoint,
  memories: string,
): Promise<void> {
  try {
    await readWholeTable(lancedb, memories, base, version);
  } catch (cause) {
    throw new BackupError(
      `The table ${baseFolder(base)} is damaged, so nothing was backed up: run ctxd doctor for details.`,
      { cause },
    );
  }
}

function pathOf({ base }: RecordedCheckpoint, file: string): string {
  return `${baseFolder(base)}/${file}`;
}

/** Removes copied files that newer checkpoints do not list: they may contain deleted memories. */
async function removeUnlisted(
  container: Container,
  listed: ReadonlySet<string>,
  copied: Map<string, FileDigest>,
): Promise<void> {
  for (const path of copied.keys()) {
    if (listed.has(path) || !path.startsWith("memories/")) continue;
    await container.remove(path);
    copied.delete(path);
  }
}

/** Receives the progress of a long task. */
export type Progress = (done: { step: string; count: number; total: number }) => void;

/** Each round copies only new files, so it is usually shorter than the one before: a busy server only needs more of them. */
const MAX_ROUNDS = 40;

interface BackupOptions {
  /** Has the data, or at least space for temporary unencrypted copies. */
  dataDir: string;
  /** Opens the source; by default the data folder. */
  open?: () => Promise<BackupSource>;
  /** Must be missing or empty. It is so again after a failure. */
  folder: string;
  version: string;
  lancedb: typeof LanceDb;
  clock: () => number;
  /** What the backup is encrypted with; null for no encryption. */
  lock?: Lock | null;
  signal?: AbortSignal;
  onProgress?: Progress;
}

/**
 * Copies a consistent state of all data, even while servers write: the database, and the files of each base
 * that the checkpoints in this copy list. A restored server applies the log in the copy to these bases. The
 * backup is durable when this returns.
 * @throws BackupError or DatabaseError with one sentence for the user
 */
export async function createBackup(options: BackupOptions): Promise<Manifest> {
  const { dataDir, folder, lock, open = async () => openDataFolder(dataDir) } = options;
  const source = await open();
  try {
    // Before the folder is created, because a recipient may be invalid.
    const key = lock && (await createKey(lock));
    const existed = await claimFolder(folder, dataDir);
    try {
      const container = key
        ? createSealedContainer(folder, key.cipher, key.wrapped)
        : createPlainContainer(folder);
      return await fill({ options, source, container, copied: new Map() });
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      if (existed) await mkdir(folder, { mode: 0o700 });
      throw error;
    }
  } finally {
    await source.close();
  }
}

async function fill(job: Job): Promise<Manifest> {
  const { source, container, copied } = job;
  const { folder, version } = job.options;
  const schema = await source.schema();
  refuseSchema(schema, source.name);
  const { accounts, tables, createdAt } = await copyAll(job);
  await explainFailure(folder, "written", () => syncFolders(folder));
  const manifest = completeManifest({
    ctxd: version,
    created_at: createdAt,
    schema,
    accounts,
    tables,
    files: [...copied]
      .map(([path, { bytes, sha256 }]) => ({ path, bytes, sha256 }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  });
  await container.complete(formatManifest(manifest));
  await explainFailure(folder, "written", () => syncFolder(join(folder, "..")));
  return manifest;
}

/** Copies until the database and the tables are consistent and readable. */
async function copyAll(job: Job) {
  const { source, container, copied } = job;
  const { dataDir, folder, clock, lock, lancedb, signal, onProgress } = job.options;
  const isSealed = Boolean(lock);
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const createdAt = new Date(clock()).toISOString();
    const state = await copyState(source, container, { dataDir, folder, isSealed });
    const { database, checkpoints, accounts, tables } = state;
    copied.set(DATABASE_FILE, database);
    if (!(await copyTables(job, checkpoints))) continue;
    for (const [count, checkpoint] of isSealed ? [] : checkpoints.entries()) {
      signal?.throwIfAborted();
      onProgress?.({ step: "checking tables", count, total: checkpoints.length });
      await checkTable(lancedb, checkpoint, join(folder, "memories"));
    }
    return { createdAt, accounts, tables };
  }
  throw new BackupError(
    `The memories change faster than ${folder} can be written: choose a faster disk, or a quieter time.`,
  );
}

function refuseSchema(schema: number, name: string): void {
  if (schema === MIGRATIONS.length) return;
  const age = schema > MIGRATIONS.length ? "a newer" : "an older";
  throw new BackupError(
    `The data in ${name} was written by ${age} ctxd: back it up with that version${schema < MIGRATIONS.length ? ", or start this one first" : ""}.`,
  );
}

/** Creates the folder unless it is there and empty. Returns whether it existed. */
async function claimFolder(folder: string, dataDir: string): Promise<boolean> {
  if (await isWithin(folder, dataDir)) {
    throw new BackupError(`${folder} is inside the data folder: choose a place outside it.`);
  }
  return await explainFailure(folder, "written", async () => {
    const existed = existsSync(folder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if ((await readdir(folder)).length > 0) {
      throw new BackupError(`${folder} is not empty: choose a new folder.`);
    }
    await chmod(folder, 0o700);
    return existed;
  });
}
