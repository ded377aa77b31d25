import { existsSync } from "node:fs";
import { mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { databasePath, lockDataFolder } from "../db/data-lock.ts";
import { moveFile, syncFolder } from "../system/files.ts";
import { forEachAtOnce } from "../timing/at-once.ts";
import { BackupError, explainFailure } from "./backup-error.ts";
import { DATABASE_FILE, SCRATCH_FOLDER } from "./copy-state.ts";
import { endAccess } from "./end-access.ts";
import { syncFolders } from "./files.ts";
import { refuseForeignDatabase } from "./foreign-database.ts";
import { openVerified, type Restored, type RestoreOptions, requireSame } from "./open-backup.ts";
import { RESTORE_FOLDER } from "./source.ts";

/** Entries that an unused data folder may have. */
const HARMLESS = new Set([
  "server.lock",
  "server.lock-journal",
  "owner.json",
  "background.log",
  "ctxd.sock",
  "cache",
  // Keys of other servers, and what waits for them.
  "servers",
  SCRATCH_FOLDER,
  "README.md",
  ".gitignore",
  "lost+found",
  ".DS_Store",
  RESTORE_FOLDER,
]);
/** In the order of moving them. The database is last and completes the data folder. */
const PARTS = ["memories", "ctxd.db"];

/**
 * Restores a backup to a data folder without data. The whole backup is checked before the first byte is
 * written. Sessions, codes, tokens and invitations end, as `end-access.ts` lists them. A crash leaves either
 * no data, all data, or a folder that servers refuse and a second restore cleans up.
 * @param version version of this program
 * @throws BackupError or DatabaseError with one sentence for the user
 */
export async function restoreBackup({
  version,
  ...options
}: RestoreOptions & { version: string }): Promise<Restored> {
  const { dataDir, clock = Date.now, revokeKeys = false, signal, onProgress } = options;
  await refuseData(dataDir);
  const { manifest, container } = await openVerified(options);

  const lock = lockDataFolder(dataDir, version);
  const staging = join(dataDir, RESTORE_FOLDER);
  try {
    await cleanUp(dataDir);
    await refuseData(dataDir);
    await explainFailure(staging, "written", () =>
      mkdir(join(staging, "memories"), { recursive: true, mode: 0o700 }),
    );
    let count = 0;
    await forEachAtOnce(manifest.files, async (file) => {
      signal?.throwIfAborted();
      onProgress?.({ step: "copying files", count: ++count, total: manifest.files.length });
      requireSame(file, await container.extract(file, join(staging, file.path)), container);
    });
    const database = databasePath(staging);
    refuseForeignDatabase(database, manifest.schema, container.locate(DATABASE_FILE));
    const ended = endAccess(database, { revokeKeys, now: clock() });
    await explainFailure(dataDir, "written", () => moveInto(dataDir, staging));
    return { manifest, ended };
  } catch (error) {
    // The first error is reported, not one of the clean-up.
    await cleanUp(dataDir).catch(() => {});
    throw error;
  } finally {
    lock.release();
  }
}

async function moveInto(dataDir: string, staging: string): Promise<void> {
  await syncFolders(staging);
  await syncFolder(dataDir);
  for (const part of PARTS) {
    await moveFile(join(staging, part), join(dataDir, part));
    await syncFolder(dataDir);
  }
  await rmdir(staging);
  await syncFolder(dataDir);
}

async function cleanUp(dataDir: string): Promise<void> {
  const staging = join(dataDir, RESTORE_FOLDER);
  if (!existsSync(staging)) return;
  // Without a database, the tables are those of an interrupted restore.
  if (!existsSync(databasePath(dataDir))) {
    await rm(join(dataDir, "memories"), { recursive: true, force: true });
  }
  await rm(staging, { recursive: true, force: true });
}

/** @throws BackupError when the folder contains anything that may be data */
async function refuseData(dataDir: string): Promise<void> {
  const entries = existsSync(dataDir)
    ? await explainFailure(dataDir, "read", () => readdir(dataDir))
    : [];
  const isCutOff = entries.includes(RESTORE_FOLDER) && !entries.includes("ctxd.db");
  const found = entries.find((name) => !HARMLESS.has(name) && !(isCutOff && name === "memories"));
  if (found === undefined) return;
  throw new BackupError(
    `The data folder ${dataDir} is not empty (${found}): name a new folder with --data-dir.`,
  );
}
