import { readdir, rm, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Milliseconds after which an unpacked version that no start has used goes. */
const UNUSED_FOR = 30 * 24 * 3_600_000;

/**
 * Notes that an asset's folder is used now, and removes the folders of other versions of it that
 * nobody has used for 30 days: each version of the program leaves 200 MB otherwise. What can't be
 * removed stays; a process that has it open keeps its files.
 */
export async function removeStaleAssets(folder: string, now = Date.now()): Promise<void> {
  const [cacheDir, used] = [dirname(folder), basename(folder)];
  const versions = new RegExp(`^${used.replace(/-[0-9a-f]{16}$/, "")}-[0-9a-f]{16}$`);
  try {
    await utimes(folder, now / 1_000, now / 1_000);
    for (const name of await readdir(cacheDir)) {
      if (name === used || !versions.test(name)) continue;
      const { mtimeMs } = await stat(join(cacheDir, name));
      if (now - mtimeMs < UNUSED_FOR) continue;
      await rm(join(cacheDir, name), { recursive: true, force: true });
    }
  } catch {
    // A cache that only root may change, say: it works as it is.
  }
}
