import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type * as LanceDb from "@lancedb/lancedb";
import { MIGRATIONS } from "../db/migrations.ts";
import { readWholeTable } from "../memories/base/connection.ts";
import { baseFolder } from "../memories/log/log.ts";
import type { RecordedCheckpoint } from "../memories/log/records.ts";
import { syncFolder } from "../system/files.ts";
import { createKey, type Lock } from "./age.ts";
import { BackupError, explained } from "./backup-error.ts";
import { type Container, createPlainContainer, createSealedContainer } from "./container.ts";
import { copyState, DATABASE } from "./copy-state.ts";
import { type Content, forEach, syncFolders } from "./files.ts";
import { completeManifest, formatManifest, isWithin, type Manifest } from "./manifest.ts";
import { type BackupSource, openDataFolder } from "./source.ts";

/**
 * Copies the files that checkpoints list, except those in `copied`: LanceDB never changes a file.
 *
 * A listed file may be missing. If the checkpoint is still the newest of its table, an earlier version of
 * this program removed the file because it was not needed. Otherwise the whole base may be gone, and the copy
 * of the database with this checkpoint is out of date.
 * @param copied the copied files by path. New ones are added, unlisted ones are removed.
 * @param check reads the original table and throws when it is damaged; null to only copy
 * @returns whether everything that the checkpoints need is copied. If not, continue with newer ones.
 */
async function copyTables({
  source,
  container,
  checkpoints,
  copied,
  check,
  signal,
  onFile,
}: {
  source: BackupSource;
  container: Container;
  checkpoints: readonly RecordedCheckpoint[];
  copied: Map<string, Content>;
  check: ((checkpoint: RecordedCheckpoint, memories: string) => Promise<void>) | null;
  signal: AbortSignal | undefined;
  onFile: (count: number, total: number) => void;
}): Promise<boolean> {
  const listed = new Set(checkpoints.flatMap(pathsOf));
  await removeUnlisted(container, listed, copied);
  let count = 0;
  let isComplete = true;
  await forEach(
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
    const known = checkpoint.files.length - missing.length;
    for (let each = 0; each < known; each++) onFile(++count, listed.size);
    if (missing.length === 0) return true;
    let isWhole = true;
    await source.withBase(checkpoint, async (memories) => {
      await forEach(missing, async (file) => {
        signal?.throwIfAborted();
        onFile(++count, listed.size);
        const path = pathOf(checkpoint, file);
        const from = join(memories, `${checkpoint.base}.lance`, file);
        const content = await container.add(from, path);
        if (content) copied.set(path, content);
        else isWhole = false;
      });
      // A file that disappears meanwhile fails the check too. Then a newer checkpoint exists.
      await check?.(checkpoint, memories).catch(async (error) => {
        if (await source.isNewest(checkpoint)) throw error;
        isWhole = false;
      });
    });
    return isWhole;
  }
}

function pathsOf(checkpoint: RecordedCheckpoint): string[] {
  return checkpoint.files.map((file) => pathOf(checkpoint, file));
}

function pathOf({ base }: RecordedCheckpoint, file: string): string {
  return `${baseFolder(base)}/${file}`;
}

/** Removes copied files that newer checkpoints do not list: they may contain deleted memories. */
async function removeUnlisted(
  container: Container,
  listed: ReadonlySet<string>,
  copied: Map<string, Content>,
): Promise<void> {
  for (const path of copied.keys()) {
    if (listed.has(path) || !path.startsWith("memories/")) continue;
    await container.remove(path);
    copied.delete(path);
  }
}

/** Receives the progress of a long task. */
export type Progress = (done: { step: string; count: number; total: number }) => void;

/** Each round copies only new files, so it is usually shorter than the one before. */
const MAX_ROUNDS = 12;

/**
 * Copies a consistent state of all data, even while servers write: the database, and the files of each base
 * that the checkpoints in this copy list. A restored server applies the log in the copy to these bases. The
 * backup is durable when this returns.
 * @param dataDir has the data, or at least space for temporary unencrypted copies
 * @param open opens the source; by default the data folder
 * @param folder must be missing or empty. It is so again after a failure.
 * @param lock what the backup is encrypted with; null for no encryption
 * @throws BackupError or DatabaseError with one sentence for the user
 */
export async function createBackup(options: {
  dataDir: string;
  open?: () => Promise<BackupSource>;
  folder: string;
  /** Of this program. */
  version: string;
  lancedb: typeof LanceDb;
  clock: () => number;
  lock?: Lock | null;
  signal?: AbortSignal;
  onProgress?: Progress;
}): Promise<Manifest> {
  const { dataDir, folder, lock = null, open = async () => openDataFolder(dataDir) } = options;
  const source = await open();
  try {
    // Before the folder is created, because a recipient may be invalid.
    const key = lock && (await createKey(lock));
    const existed = await claimFolder(folder, dataDir);
    try {
      const container = key
        ? createSealedContainer(folder, key.cipher, key.wrapped)
        : createPlainContainer(folder);
      return await fill(source, container, options);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      if (existed) await mkdir(folder, { mode: 0o700 });
      throw error;
    }
  } finally {
    await source.close();
  }
}

async function fill(
  source: BackupSource,
  container: Container,
  {
    dataDir,
    folder,
    version,
    lancedb,
    clock,
    lock = null,
    signal,
    onProgress = () => {},
  }: Parameters<typeof createBackup>[0],
): Promise<Manifest> {
  const schema = await source.schema();
  refuseSchema(schema, source.name);
  const { copied, accounts, tables, createdAt } = await copyAll();
  await explained(folder, "written", () => syncFolders(folder));
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
  await explained(folder, "written", () => syncFolder(join(folder, "..")));
  return manifest;

  /** Copies until the database and the tables are consistent and readable. */
  async function copyAll() {
    const copied = new Map<string, Content>();
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const createdAt = new Date(clock()).toISOString();
      const isSealed = lock !== null;
      const { database, ...state } = await copyState(source, {
        dataDir,
        folder,
        container,
        isSealed,
      });
      copied.set(DATABASE, database);
      const isComplete = await copyTables({
        source,
        container,
        copied,
        signal,
        checkpoints: state.checkpoints,
        // Encrypted copies can't be read, so the original is checked.
        check: isSealed ? check : null,
        onFile: (count, total) => onProgress({ step: "copying files", count, total }),
      });
      if (!isComplete) continue;
      if (!isSealed) await checkCopies(state.checkpoints);
      return { copied, createdAt, ...state };
    }
    throw new BackupError(
      `The memories change faster than ${folder} can be written: choose a faster disk, or a quieter time.`,
    );
  }

  async function checkCopies(checkpoints: readonly RecordedCheckpoint[]): Promise<void> {
    for (const [count, checkpoint] of checkpoints.entries()) {
      signal?.throwIfAborted();
      onProgress({ step: "checking tables", count, total: checkpoints.length });
      await check(checkpoint, join(folder, "memories"));
    }
  }

  /** @throws BackupError for a table that is damaged */
  async function check({ base, version }: RecordedCheckpoint, memories: string): Promise<void> {
    try {
      await readWholeTable(lancedb, memories, base, version);
    } catch (cause) {
      throw new BackupError(
        `The table ${baseFolder(base)} is damaged, so nothing was backed up: run ctxd doctor for details.`,
        { cause },
      );
    }
  }
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
