import { closeSync, fsyncSync, openSync } from "node:fs";
import { open } from "node:fs/promises";

const isWindows = process.platform === "win32";

/**
 * How a file is opened whose content is to be on the disk. Windows flushes only what may be written
 * (FlushFileBuffers wants GENERIC_WRITE).
 */
export const SYNCABLE = isWindows ? "r+" : "r";

/** Makes sure that a file's content is on the disk. */
export async function syncFile(path: string): Promise<void> {
  await using handle = await open(path, SYNCABLE);
  await handle.sync();
}

/** The same at once. */
export function syncFileNow(path: string): void {
  const file = openSync(path, SYNCABLE);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Makes sure that the names in a folder are on the disk. Windows lets nobody flush a folder: NTFS
 * has names in a journal of its own, and what a power cut may take of them is its affair.
 */
export async function syncFolder(path: string): Promise<void> {
  if (isWindows) return;
  await syncFile(path);
}
