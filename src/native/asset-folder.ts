import { randomUUID } from "node:crypto";
import { readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { moveFile } from "../system/files.ts";

/** Size, times and inode of each file of an asset folder when its content was last checked, by name. */
export type Stamp = Record<string, string>;

const NAME = "checked.json";
/** Name prefix of files that are still being written. */
export const TEMPORARY = ".part-";
/** Milliseconds after which the folder of an unused version is removed. */
const UNUSED_MS = 30 * 24 * 3_600_000;

/** The stamp of a folder; empty when it is missing or damaged, and then every file is checked. */
export async function readStamp(folder: string): Promise<Stamp> {
  const text = await readFile(join(folder, NAME), "utf8").catch(() => "{}");
  try {
    const stamp: unknown = JSON.parse(text);
    return isStamp(stamp) ? stamp : {};
  } catch {
    return {};
  }
}

/** Records that the files were checked. If that fails, the next start checks them again. */
export async function writeStamp(folder: string, stamp: Stamp): Promise<void> {
  const temporary = join(folder, `${TEMPORARY}${randomUUID()}`);
  try {
    await writeFile(temporary, JSON.stringify(stamp), { mode: 0o600 });
    await moveFile(temporary, join(folder, NAME));
  } catch {
    await rm(temporary, { force: true }).catch(() => {});
  }
}

function isStamp(value: unknown): value is Stamp {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((entry) => typeof entry === "string")
  );
}

/**
 * Marks an asset's folder as used now, and removes the folders of other versions that were not used for
 * 30 days: each takes 200 MB. A folder that can't be removed stays. A process that has its files open
 * keeps them.
 */
export async function removeStaleAssets(folder: string, now = Date.now()): Promise<void> {
  const [cacheDir, used] = [dirname(folder), basename(folder)];
  const versions = new RegExp(`^${used.replace(/-[0-9a-f]{16}$/, "")}-[0-9a-f]{16}$`);
  try {
    await utimes(folder, now / 1_000, now / 1_000);
    for (const name of await readdir(cacheDir)) {
      if (name === used || !versions.test(name)) continue;
      const { mtimeMs } = await stat(join(cacheDir, name));
      if (now - mtimeMs < UNUSED_MS) continue;
      await rm(join(cacheDir, name), { recursive: true, force: true });
    }
  } catch {
    // The cache works without this, for example when only root may change it.
  }
}
