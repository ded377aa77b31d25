import { mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { openUnmigrated } from "../db/sqlite-files.ts";
import { countTables, type RecordedCheckpoint, readCheckpoints } from "../memories/log/records.ts";
import { isRunning } from "../system/processes.ts";
import { BackupError, explained } from "./backup-error.ts";
import type { Container } from "./container.ts";
import { type Content, readContent } from "./files.ts";
import type { BackupSource } from "./source.ts";

/** The path of the database in a backup. */
export const DATABASE = "ctxd.db";

/** The folder in a data folder for temporary copies of a backup or restore. */
export const UNSEALED = "backing-up";

/** The contents of a copy of the database. */
interface CopiedState {
  readonly database: Content;
  readonly checkpoints: RecordedCheckpoint[];
  readonly accounts: number;
  readonly tables: number;
}

/**
 * Copies the database into a backup and checks the copy.
 * @throws BackupError or DatabaseError with one sentence for the user
 */
export async function copyState(
  source: BackupSource,
  {
    dataDir,
    folder,
    container,
    isSealed,
  }: { dataDir: string; folder: string; container: Container; isSealed: boolean },
): Promise<CopiedState> {
  await container.remove(DATABASE);
  if (!isSealed) {
    const path = join(folder, DATABASE);
    await source.copyDatabase(path);
    return { ...readState(path), database: required(await readContent(path), path) };
  }
  return await withScratch(dataDir, async (scratch) => {
    const path = join(scratch, DATABASE);
    await source.copyDatabase(path);
    return { ...readState(path), database: required(await container.add(path, DATABASE), path) };
  });
}

/**
 * Creates a folder in the data folder for files that must not be unencrypted elsewhere.
 * @returns its path, and a function that removes it
 */
export async function openScratch(
  dataDir: string,
): Promise<{ folder: string; remove(): Promise<void> }> {
  const scratch = join(dataDir, UNSEALED);
  await removeAbandonedCopies(dataDir);
  const folder = join(scratch, `${process.pid}-${Bun.randomUUIDv7()}`);
  await explained(folder, "written", () => mkdir(folder, { recursive: true, mode: 0o700 }));
  return {
    folder,
    async remove() {
      await rm(folder, { recursive: true, force: true });
      // Fails while another backup uses the parent folder.
      await rmdir(scratch).catch(() => {});
    },
  };
}

/** Creates such a folder for the duration of a task. */
export async function withScratch<T>(
  dataDir: string,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const scratch = await openScratch(dataDir);
  try {
    return await use(scratch.folder);
  } finally {
    await scratch.remove();
  }
}

function readState(path: string): Omit<CopiedState, "database"> {
  const copy = openUnmigrated(path);
  try {
    const problem = copy.query("PRAGMA integrity_check(1)").values().flat()[0];
    if (problem !== "ok") throw new BackupError(`The database is damaged: ${problem}.`);
    const accounts = copy.query<{ n: number }, []>("SELECT count(*) AS n FROM accounts").get()?.n;
    const [checkpoints, tables] = [readCheckpoints(copy), countTables(copy)];
    return { checkpoints, tables, accounts: accounts ?? 0 };
  } finally {
    copy.close();
  }
}

function required(content: Content | null, path: string): Content {
  if (content !== null) return content;
  throw new BackupError(`${path} was removed.`);
}

/**
 * Removes copies of the database that ended processes left behind: they contain data that may have been
 * deleted since.
 * @param isStart whether this process has created no copy yet. In a container each process has the same id,
 * so a folder with its own id is that of an earlier process.
 */
export async function removeAbandonedCopies(dataDir: string, isStart = false): Promise<void> {
  const scratch = join(dataDir, UNSEALED);
  for (const name of await readdir(scratch).catch(() => [])) {
    const pid = Number.parseInt(name, 10);
    const isInUse = isRunning(pid) && !(isStart && pid === process.pid);
    if (!isInUse) await rm(join(scratch, name), { recursive: true, force: true });
  }
}
