import { mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { databasePath } from "../db/data-lock.ts";
import { openUnmigrated } from "../db/sqlite-files.ts";
import { countTables, type RecordedCheckpoint, readCheckpoints } from "../memories/log/records.ts";
import { isCompiled } from "../native/embedded-asset.ts";
import type { FileDigest } from "../system/file-digest.ts";
import { isRunning } from "../system/processes.ts";
import { BackupError, explainFailure } from "./backup-error.ts";
import type { Container } from "./container.ts";
import { copyFile } from "./files.ts";
import type { BackupSource } from "./source.ts";

/** The path of the database in a backup. */
export const DATABASE_FILE = "ctxd.db";

/** The folder in a data folder for temporary copies of a backup or restore. */
export const SCRATCH_FOLDER = "backing-up";

interface CopiedState {
  readonly database: FileDigest;
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
  container: Container,
  { dataDir, folder, isSealed }: { dataDir: string; folder: string; isSealed: boolean },
): Promise<CopiedState> {
  await container.remove(DATABASE_FILE);
  await using scratch = isSealed ? await openScratch(dataDir) : null;
  const path = join(scratch?.folder ?? folder, DATABASE_FILE);
  await source.copyDatabase?.(path);
  const state = await inWorker({ from: source.copyDatabase ? null : databasePath(dataDir), path });
  const database = await (scratch ? container.add(path, DATABASE_FILE) : copyFile(path, null));
  if (database === null) throw new BackupError(`${path} was removed.`);
  return { ...state, database };
}

/**
 * Creates a folder in the data folder for files that must not be unencrypted elsewhere. It is removed when it is
 * disposed.
 */
export async function openScratch(dataDir: string): Promise<AsyncDisposable & { folder: string }> {
  const scratch = join(dataDir, SCRATCH_FOLDER);
  await removeAbandonedCopies(dataDir);
  const folder = join(scratch, `${process.pid}-${Bun.randomUUIDv7()}`);
  await explainFailure(folder, "written", () => mkdir(folder, { recursive: true, mode: 0o700 }));
  return {
    folder,
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
      // Fails while another backup uses the parent folder.
      await rmdir(scratch).catch(() => {});
    },
  };
}

/** What the worker does: it copies a database unless `from` is null, then checks and reads the copy at `path`. */
export interface ToCopy {
  from: string | null;
  path: string;
}
/** Its answer: the state, or the problem. Of other errors, the worker dies. */
export type FromCopy = Omit<CopiedState, "database"> | { problem: string };

/** In the executable, all code but the workers is one module at the root of its file system. */
const WORKER = isCompiled ? "./backup/copy-worker.js" : "./copy-worker.ts";

/** Copies and checks in a worker: SQLite would block the thread for a second per hundred megabytes. */
async function inWorker(toCopy: ToCopy): Promise<Omit<CopiedState, "database">> {
  const worker = new Worker(new URL(WORKER, import.meta.url).href);
  const { promise, resolve, reject } = Promise.withResolvers<FromCopy>();
  worker.onmessage = ({ data }: MessageEvent<FromCopy>) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.postMessage(toCopy);
  try {
    const answer = await promise;
    if ("problem" in answer) throw new BackupError(answer.problem);
    return answer;
  } finally {
    worker.terminate();
  }
}

/** @throws BackupError for a damaged copy */
export function readState(path: string): Omit<CopiedState, "database"> {
  using copy = openUnmigrated(path);
  const problem = copy.query("PRAGMA integrity_check(1)").values().flat()[0];
  if (problem !== "ok") throw new BackupError(`The database is damaged: ${problem}.`);
  const accounts = copy.query<{ n: number }, []>("SELECT count(*) AS n FROM accounts").get()?.n;
  const [checkpoints, tables] = [readCheckpoints(copy), countTables(copy)];
  return { checkpoints, tables, accounts: accounts ?? 0 };
}

/**
 * Removes copies of the database that ended processes left behind: they contain data that may have been
 * deleted since.
 * @param isStart whether this process has created no copy yet. In a container each process has the same id,
 * so a folder with its own id is that of an earlier process.
 */
export async function removeAbandonedCopies(dataDir: string, isStart = false): Promise<void> {
  const scratch = join(dataDir, SCRATCH_FOLDER);
  for (const name of await readdir(scratch).catch(() => [])) {
    const pid = Number.parseInt(name, 10);
    const isInUse = isRunning(pid) && !(isStart && pid === process.pid);
    if (!isInUse) await rm(join(scratch, name), { recursive: true, force: true });
  }
}
