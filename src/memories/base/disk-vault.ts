import { open, readdir, rm } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { AppError } from "../../errors.ts";
import { TornFile, type Vault } from "./vault.ts";

/** The ending of a base's folder. LanceDB gives it to every table. */
const ENDING = ".lance";

/** LanceDB's one file that changes. It saves a directory listing and may be missing or wrong. */
const HINT = join("_versions", "latest_version_hint.json");

/** The name that a file of LanceDB has while it is written. */
const STAGED = /#\d+$/;

/** What a file of each format ends with. */
const MARKS: Readonly<Record<string, string>> = {
  ".lance": "LANC",
  ".idx": "LANC",
  ".manifest": "LANC",
  ".arrow": "ARROW1",
};

/**
 * Keeps bases on this machine's disk.
 * @param folder holds a folder for each base
 */
export function createDiskVault(folder: string): Vault {
  /** Files of each base that are durable. LanceDB never changes one. */
  const kept = new Map<string, Set<string>>();
  const folderOf = (base: string) => join(folder, `${base}${ENDING}`);

  return {
    async keep(base, files) {
      const known = kept.get(base) ?? new Set();
      const added = files.filter((file) => !known.has(file));
      const folders = new Set<string>();
      for (const file of added) {
        await withFile(join(folderOf(base), file), async (handle, path) => {
          await requireWhole(handle, path);
          await handle.sync();
        });
        for (let parent = dirname(file); !folders.has(parent); parent = dirname(parent)) {
          folders.add(parent);
        }
      }
      for (const name of folders) await sync(join(folderOf(base), name));
      // The folder of all bases may be new too.
      if (known.size === 0) for (const each of [folder, dirname(folder)]) await sync(each);
      kept.set(base, new Set([...known, ...added]));
    },

    async restore(base, files) {
      const path = folderOf(base);
      const listed = new Set(files);
      await Promise.all(files.map((file) => requireListed(join(path, file))));
      const others = (await listFiles(path)).filter((file) => !listed.has(file));
      for (const file of others) await rm(join(path, file), { force: true });
      const changed = new Set(others.map((file) => dirname(join(path, file))));
      for (const each of changed) await sync(each);
      kept.set(base, listed);
    },

    async forget(bases) {
      for (const base of bases) {
        kept.delete(base);
        await rm(folderOf(base), { recursive: true, force: true });
      }
      if (bases.length > 0) await sync(folder).catch(absent);
    },

    async bases() {
      const entries = await readdir(folder, { withFileTypes: true }).catch(absent);
      return entries
        .filter((entry) => entry.isDirectory() && entry.name.endsWith(ENDING))
        .map(({ name }) => name.slice(0, -ENDING.length));
    },

    async files(base) {
      const files = await listFiles(folderOf(base));
      return files.filter((file) => file !== HINT && !STAGED.test(file));
    },

    async bytes(base) {
      const path = folderOf(base);
      // A file that was removed meanwhile has no size.
      const sizes = (await listFiles(path)).map((file) => Bun.file(join(path, file)).size);
      return sizes.reduce((sum, size) => sum + size, 0);
    },
  };
}

/** All files of a folder, relative to it; none when it isn't there. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(absent);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

type Handle = Awaited<ReturnType<typeof open>>;

async function withFile(path: string, task: (handle: Handle, path: string) => Promise<void>) {
  const handle = await open(path, "r");
  try {
    await task(handle, path);
  } finally {
    await handle.close();
  }
}

async function sync(path: string): Promise<void> {
  await withFile(path, (handle) => handle.sync());
}

/** @throws TornFile when a file of LanceDB, whatever kind it is, lacks its end */
async function requireWhole(handle: Handle, path: string): Promise<void> {
  const mark = MARKS[extname(path)] ?? "";
  const { size } = await handle.stat();
  const end = Buffer.alloc(mark.length);
  if (size > 0) await handle.read(end, 0, end.length, Math.max(0, size - end.length));
  if (size === 0 || end.toString("latin1") !== mark) throw new TornFile(path);
}

/** @throws AppError `unavailable` when a file that a checkpoint lists is missing or torn */
async function requireListed(path: string): Promise<void> {
  try {
    await withFile(path, requireWhole);
  } catch (cause) {
    const isAbsent = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (!isAbsent && !(cause instanceof TornFile)) throw cause;
    throw new AppError("unavailable", "This account's memories are damaged: restore a backup.", {
      cause: isAbsent ? new Error(`${path} is missing, and a checkpoint lists it`) : cause,
    });
  }
}

function absent(error: unknown): never[] {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
  throw error;
}
