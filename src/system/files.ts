import { renameSync } from "node:fs";
import { copyFile, link, rename, symlink } from "node:fs/promises";

const isWindows = process.platform === "win32";

/** Whether a file can be removed while a process has it loaded as a library. */
export const CAN_REMOVE_LOADED = !isWindows;

/**
 * What Windows says while another program has one of the two files open for a moment: scanners open
 * each new one.
 */
const BUSY = new Set(["EACCES", "EBUSY", "EPERM"]);
/** Milliseconds before the next try; all together 2 s. */
const PAUSES = isWindows ? [10, 20, 50, 100, 200, 400, 600, 600] : [];

/** Gives a file or a folder another name; a file that has that name is replaced. */
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

/** The same at once. */
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
  return error instanceof Error && "code" in error && BUSY.has(String(error.code));
}

/**
 * Makes a file appear under a second name, for reading alone. Windows lets few people make symbolic
 * links: there it is another name on the same disk, or a copy.
 */
export async function linkFile(from: string, to: string): Promise<void> {
  if (!isWindows) return symlink(from, to);
  await link(from, to).catch(() => copyFile(from, to));
}
