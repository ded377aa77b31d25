import { access, open, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * The files of a table. LanceDB writes each once and never changes it, so a list of names is a
 * snapshot: with no other file in the folder, the table is what it was when the list was made.
 */

/** LanceDB's one file that changes. It saves a directory listing and may be missing or wrong. */
const HINT = join("_versions", "latest_version_hint.json");

/** The name that a file of LanceDB has while it is written. */
const STAGED = /#\d+$/;

/** All files of a table, relative to its folder; none when the folder isn't there. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(absent);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((file) => file !== HINT);
}

/** Bytes of all files of a table together. */
export async function sizeOf(folder: string): Promise<number> {
  // A file that upkeep has removed meanwhile has no size.
  const sizes = (await listFiles(folder)).map((file) => Bun.file(join(folder, file)).size);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Makes sure that files, and the folders that name them, are on the disk. */
export async function syncFiles(folder: string, files: readonly string[]): Promise<void> {
  const folders = new Set<string>();
  for (const file of files) {
    await sync(join(folder, file));
    for (let parent = dirname(file); !folders.has(parent); parent = dirname(parent)) {
      folders.add(parent);
    }
  }
  for (const name of folders) await sync(join(folder, name));
  if (files.length > 0) await sync(dirname(folder));
}

/** Makes sure that what was removed from a table's folders stays removed. */
export async function syncFolders(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(absent);
  const folders = entries.filter((entry) => entry.isDirectory());
  for (const { parentPath, name } of folders) await sync(join(parentPath, name));
  await sync(folder);
}

/** Whether a table's folder has the file that says what belongs to a version. */
export async function hasVersion(folder: string, version: number): Promise<boolean> {
  // LanceDB counts these names down, so that the newest version comes first.
  const name = String(2n ** 64n - 1n - BigInt(version)).padStart(20, "0");
  return await access(join(folder, "_versions", `${name}.manifest`)).then(
    () => true,
    () => false,
  );
}

/**
 * Lets LanceDB's next cleanup remove every file here that belongs to no version: what a failed or
 * interrupted operation left. LanceDB spares such a file for seven days after it was written, as it
 * may belong to an operation under way; so there must be none now. Files that are written after
 * this are spared again.
 */
export async function ageFiles(folder: string): Promise<void> {
  for (const file of await listFiles(folder)) {
    const path = join(folder, file);
    // Half a file, which would have got its name when it was whole. The cleanup doesn't know it.
    if (STAGED.test(file)) await rm(path, { force: true });
    else await utimes(path, 0, 0);
  }
}

/** Brings a table back to the state that a list of its files stands for. */
export async function removeOtherFiles(folder: string, files: readonly string[]): Promise<number> {
  const known = new Set(files);
  const others = (await listFiles(folder)).filter((file) => !known.has(file));
  await rm(join(folder, HINT), { force: true });
  for (const file of others) await rm(join(folder, file), { force: true });
  return others.length;
}

/** Bytes that a disk must take to be relied on again. */
const TRIAL = 4 << 20;

/** @throws what the disk reports when it does not keep a few megabytes in a folder */
export async function tryDisk(folder: string): Promise<void> {
  const path = join(folder, "disk-trial");
  try {
    await writeFile(path, new Uint8Array(TRIAL), { mode: 0o600, flush: true });
  } finally {
    await rm(path, { force: true });
  }
}

/** Makes sure that a file, or what a folder names, is on the disk. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, "r").catch(absent);
  // What upkeep has removed meanwhile belongs to no state that matters.
  if (!handle || Array.isArray(handle)) return;
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function absent(error: unknown): never[] {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
  throw error;
}
