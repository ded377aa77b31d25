import { closeSync, fsyncSync, openSync, renameSync } from "node:fs";
import { copyFile, link, mkdir, open, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "../errors.ts";

const isWindows = process.platform === "win32";

/**
 * The mode in which a file is opened to be synced. Windows syncs only files opened for writing
 * (FlushFileBuffers needs GENERIC_WRITE).
 */
export const SYNCABLE = isWindows ? "r+" : "r";

/** Syncs a file: afterwards its content is on the disk. */
export async function syncFile(path: string): Promise<void> {
  await using handle = await open(path, SYNCABLE);
  await handle.sync();
}

/** Synchronous `syncFile`. */
export function syncFileNow(path: string): void {
  const file = openSync(path, SYNCABLE);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Syncs a folder: afterwards the names in it are on the disk. Does nothing on Windows, where folders can't
 * be synced and NTFS journals the names itself.
 */
export async function syncFolder(path: string): Promise<void> {
  if (isWindows) return;
  await syncFile(path);
}

/** Whether a file can be removed while a process has it loaded as a library. */
export const CAN_REMOVE_LOADED = !isWindows;

/**
 * Error codes of Windows while another program has one of the two files open. Virus scanners briefly
 * open every new file.
 */
const BUSY = new Set(["EACCES", "EBUSY", "EPERM"]);
/** Milliseconds between the tries, about 2 s in total. */
const PAUSES = isWindows ? [10, 20, 50, 100, 200, 400, 600, 600] : [];

/** Renames a file or a folder. An existing file with the new name is replaced. */
export async function moveFile(from: string, to: string): Promise<void> {
  for (const pause of PAUSES) {
    try {
      return await rename(from, to);
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    await Bun.sleep(pause);
  }
  await rename(from, to);
}

/** Synchronous `moveFile`. */
export function moveFileNow(from: string, to: string): void {
  for (const pause of PAUSES) {
    try {
      renameSync(from, to);
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    Bun.sleepSync(pause);
  }
  renameSync(from, to);
}

function isBusy(error: unknown): boolean {
  return BUSY.has(errorCode(error));
}

/** Name prefix of files that are still being written. */
export const TEMPORARY = ".part-";

/**
 * Writes a file that only its owner can read, and missing folders. At any moment the file has either its old content or
 * the whole new one.
 * @param isDurable whether the content is on the disk when this resolves
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { isDurable = false } = {},
): Promise<void> {
  const draft = join(dirname(path), `${TEMPORARY}${crypto.randomUUID()}`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeFile(draft, content, { mode: 0o600, flag: "wx", flush: isDurable });
    await moveFile(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

/**
 * Makes a file readable under a second name. That is a symbolic link, or on Windows, where few users may
 * create those, a hard link or a copy.
 */
export async function linkFile(from: string, to: string): Promise<void> {
  if (!isWindows) return symlink(from, to);
  await link(from, to).catch(() => copyFile(from, to));
}
