import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type * as LanceDb from "@lancedb/lancedb";
import { MIGRATIONS } from "../db/migrations.ts";
import { readWholeTable } from "../memories/base/check.ts";
import { baseFolder } from "../memories/log/names.ts";
import type { RecordedCheckpoint } from "../memories/log/recorded.ts";
import { syncFolder } from "../system/durability.ts";
import { createKey, type Lock } from "./age.ts";
import { BackupError, explained } from "./backup-error.ts";
import { type Container, createPlainContainer, createSealedContainer } from "./container.ts";
import { copyState, DATABASE } from "./copy-state.ts";
import { type Content, syncFolders } from "./files.ts";
import { completeManifest, formatManifest, type Manifest } from "./manifest.ts";
import { isWithin } from "./paths.ts";
import { type BackupSource, openDataFolder } from "./source.ts";
import { copyTables } from "./table-copies.ts";

/** What a long job tells while it goes on. */
export type Progress = (done: { step: string; count: number; total: number }) => void;

/** Each round copies only what is new, so each is shorter than the one before. */
const MAX_ROUNDS = 12;

/**
 * Copies all data as it is at one moment, whether servers write to it or not: the database,
 * and the files of each base that the checkpoints in that copy list. The server makes of them what the
 * log in the copy says. Everything is on the disk when this returns.
 * @param dataDir has the data, or at least room for what must not be in the clear beside the backup
 * @param open opens what is to be copied, the data folder itself if nothing is said
 * @param folder must be missing or empty; when this fails, it is so again
 * @param lock to whom the backup is encrypted; null to leave it as it is
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
    // Before the folder is made: a recipient may be wrong.
    const key = lock && (await createKey(lock));
    const existed = await claim(folder, dataDir);
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

  /** Copies until database and tables are of one moment, and can be read. */
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
        ...{ source, container, copied, signal },
        checkpoints: state.checkpoints,
        // Copies that are encrypted can't be read.
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
        `The table ${baseFolder(base)} is damaged, so nothing was backed up: ctxd doctor tells more.`,
        { cause },
      );
    }
  }
}

function refuseSchema(schema: number, name: string): void {
  if (schema === MIGRATIONS.length) return;
  const age = schema > MIGRATIONS.length ? "a newer" : "an older";
  throw new BackupError(
    `The data in ${name} is that of ${age} ctxd: back it up with that version${schema < MIGRATIONS.length ? ", or start this one first" : ""}.`,
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
