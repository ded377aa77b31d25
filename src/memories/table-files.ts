import { open, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * The files of a table. LanceDB writes each once and never changes it, so a list of names is a
 * snapshot: with no other file in the folder, the table is what it was when the list was made.
 */

/** LanceDB's one file that changes. It saves a directory listing and may be missing or wrong. */
const HINT = join("_versions", "latest_version_hint.json");

/** All files of a table, relative to its folder; none when the folder isn't there. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(absent);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((file) => file !== HINT);
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

/** Brings a table back to the state that a list of its files stands for. */
export async function removeOtherFiles(folder: string, files: readonly string[]): Promise<number> {
  const known = new Set(files);
  const others = (await listFiles(folder)).filter((file) => !known.has(file));
  await rm(join(folder, HINT), { force: true });
  for (const file of others) await rm(join(folder, file), { force: true });
  return others.length;
}

async function sync(path: string): Promise<void> {
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
