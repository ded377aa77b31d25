import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SYNCABLE, syncFolder } from "../../system/durability.ts";
import {
  absent,
  createBaseFolder,
  damaged,
  isAbsent,
  requireWhole,
  withFile,
} from "./base-folder.ts";
import { TornFile, type Vault } from "./vault.ts";

/**
 * Keeps bases on the disk of this machine.
 * @param folder holds a folder for each base
 */
export function createDiskVault(folder: string): Vault {
  /** Files of each base that are durable. LanceDB never changes a file. */
  const kept = new Map<string, Set<string>>();
  const local = createBaseFolder(folder);

  return {
    bases: local.bases,
    files: local.files,
    needed: local.files,
    bytes: local.bytes,
    // These files are the only copy, so they are never removed to make room.
    hold: () => () => {},

    async keep(base, files) {
      const known = kept.get(base) ?? new Set();
      const added = files.filter((file) => !known.has(file));
      const folders = new Set<string>();
      for (const file of added) {
        await withFile(
          join(local.pathOf(base), file),
          async (handle, path) => {
            await requireWhole(handle, path);
            await handle.sync();
          },
          SYNCABLE,
        );
        for (let parent = dirname(file); !folders.has(parent); parent = dirname(parent)) {
          folders.add(parent);
        }
      }
      await syncFolders([...folders].map((name) => join(local.pathOf(base), name)));
      // The folder of all bases may be new too.
      if (known.size === 0) await syncFolders([folder, dirname(folder)]);
      kept.set(base, new Set([...known, ...added]));
    },

    async restore(base, files) {
      const path = local.pathOf(base);
      await Promise.all(files.map((file) => requireListed(join(path, file))));
      const removed = await local.removeUnlisted(base, files);
      await syncFolders(removed.map((file) => dirname(join(path, file))));
      kept.set(base, new Set(files));
    },

    async forget(bases) {
      for (const base of bases) {
        kept.delete(base);
        await rm(local.pathOf(base), { recursive: true, force: true });
      }
      if (bases.length > 0) await syncFolder(folder).catch(absent);
    },
  };
}

async function syncFolders(paths: readonly string[]): Promise<void> {
  for (const path of new Set(paths)) await syncFolder(path);
}

/** @throws AppError `unavailable` when a file that a checkpoint lists is missing or incomplete */
async function requireListed(path: string): Promise<void> {
  try {
    await withFile(path, requireWhole);
  } catch (cause) {
    if (!isAbsent(cause) && !(cause instanceof TornFile)) throw cause;
    const missing = new Error(`${path} is missing, and a checkpoint lists it`);
    throw damaged(isAbsent(cause) ? missing : cause);
  }
}
