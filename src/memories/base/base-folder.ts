import { type FileHandle, open, readdir, rm } from "node:fs/promises";
import { dirname, extname, join, sep } from "node:path";
import { AppError, errorCode } from "../../errors.ts";
import { SYNCABLE, syncFolder } from "../../system/files.ts";
import { TornFile, type Vault } from "./vault.ts";

/** The ending of a base's folder. LanceDB gives it to every table. */
const ENDING = ".lance";

/** The only file of LanceDB that changes. It saves a directory listing, and may be missing or wrong. */
const HINT = "_versions/latest_version_hint.json";

/** The name of a file while LanceDB writes it. */
const UNFINISHED = /#\d+$/;

/** The last bytes of a complete file, by its extension. */
const LAST_BYTES: Readonly<Record<string, string>> = {
  ".lance": "LANC",
  ".idx": "LANC",
  ".manifest": "LANC",
  ".arrow": "ARROW1",
};

/**
 * The local files of bases.
 * @param folder holds a folder for each base
 */
export function createBaseFolder(folder: string) {
  const pathOf = (base: string) => join(folder, `${base}${ENDING}`);

  return {
    pathOf,

    /** Names of all bases that have local files, complete or not. */
    async bases(): Promise<string[]> {
      const entries = await readdir(folder, { withFileTypes: true }).catch(absent);
      return entries
        .filter((entry) => entry.isDirectory() && entry.name.endsWith(ENDING))
        .map(({ name }) => name.slice(0, -ENDING.length));
    },

    /** All files of a base, relative to its folder. */
    async files(base: string): Promise<string[]> {
      const files = await listFiles(pathOf(base));
      return files.filter((file) => file !== HINT && !UNFINISHED.test(file));
    },

    /**
     * Removes all files of a base's folder except the listed ones, those that LanceDB keeps for itself too.
     * @returns the removed files
     */
    async removeUnlisted(base: string, files: readonly string[]): Promise<string[]> {
      const path = pathOf(base);
      const listed = new Set(files);
      const unlisted = (await listFiles(path)).filter((file) => !listed.has(file));
      for (const file of unlisted) await rm(join(path, file), { force: true });
      return unlisted;
    },

    /** Bytes of all files of a base. */
    async bytes(base: string): Promise<number> {
      const path = pathOf(base);
      // The size of a file that was removed meanwhile is 0.
      const sizes = (await listFiles(path)).map((file) => Bun.file(join(path, file)).size);
      return sizes.reduce((sum, size) => sum + size, 0);
    },
  };
}

/**
 * All files of a folder, relative to it. A missing folder has none. The separator is a slash on every system,
 * since checkpoints and backups list these names and may be read on another system.
 */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(absent);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((file) => (sep === "/" ? file : file.replaceAll(sep, "/")));
}

/** @throws TornFile when a file of LanceDB lacks its last bytes */
export async function requireWhole(handle: FileHandle, path: string): Promise<void> {
  const expected = LAST_BYTES[extname(path)] ?? "";
  const { size } = await handle.stat();
  const end = Buffer.alloc(expected.length);
  if (size > 0) await handle.read(end, 0, end.length, Math.max(0, size - end.length));
  if (size === 0 || end.toString("latin1") !== expected) throw new TornFile(path);
}

/** Why a file is of no use: it is missing, or lacks its last bytes. `null` for a complete file. */
async function damageOf(path: string): Promise<Error | null> {
  try {
    await using handle = await open(path);
    await requireWhole(handle, path);
    return null;
  } catch (error) {
    if (isAbsent(error)) return new Error(`${path} is missing, and a checkpoint lists it`);
    if (error instanceof TornFile) return error;
    throw error;
  }
}

/** Whether a file exists and is complete. */
export async function isWhole(path: string): Promise<boolean> {
  return (await damageOf(path)) === null;
}

/** The error when a file that a checkpoint lists is lost. */
export function damaged(cause: unknown): AppError {
  return new AppError("unavailable", "This account's memories are damaged: restore a backup.", {
    cause,
  });
}

export function isAbsent(error: unknown): boolean {
  return errorCode(error) === "ENOENT";
}

/** Handles the error of a folder or file that may be absent. */
export function absent(error: unknown): never[] {
  if (isAbsent(error)) return [];
  throw error;
}

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
        const path = join(local.pathOf(base), file);
        await using handle = await open(path, SYNCABLE);
        await requireWhole(handle, path);
        await handle.sync();
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
      const found = await Promise.all(files.map((file) => damageOf(join(path, file))));
      const damage = found.find((one) => one !== null);
      if (damage) throw damaged(damage);
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
