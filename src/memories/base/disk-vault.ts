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
 * Keeps bases on this machine's disk.
 * @param folder holds a folder for each base
 */
export function createDiskVault(folder: string): Vault {
  /** Files of each base that are durable. LanceDB never changes one. */
  const kept = new Map<string, Set<string>>();
  const local = createBaseFolder(folder);

  return {
    bases: local.bases,
    files: local.files,
    needed: local.files,
    bytes: local.bytes,
    // What is durable here is nowhere else, and stays.
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
      for (const name of folders) await syncFolder(join(local.pathOf(base), name));
      // The folder of all bases may be new too.
      if (known.size === 0) for (const each of [folder, dirname(folder)]) await syncFolder(each);
      kept.set(base, new Set([...known, ...added]));
    },

    async restore(base, files) {
      const path = local.pathOf(base);
      const listed = new Set(files);
      await Promise.all(files.map((file) => requireListed(join(path, file))));
      const others = (await local.allFiles(base)).filter((file) => !listed.has(file));
      for (const file of others) await rm(join(path, file), { force: true });
      const changed = new Set(others.map((file) => dirname(join(path, file))));
      for (const each of changed) await syncFolder(each);
      kept.set(base, listed);
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

/** @throws AppError `unavailable` when a file that a checkpoint lists is missing or torn */
async function requireListed(path: string): Promise<void> {
  try {
    await withFile(path, requireWhole);
  } catch (cause) {
    if (!isAbsent(cause) && !(cause instanceof TornFile)) throw cause;
    const missing = new Error(`${path} is missing, and a checkpoint lists it`);
    throw damaged(isAbsent(cause) ? missing : cause);
  }
}
