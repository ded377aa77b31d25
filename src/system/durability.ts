import { closeSync, fsyncSync, openSync } from "node:fs";
import { open } from "node:fs/promises";

export const isWindows = process.platform === "win32";

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
