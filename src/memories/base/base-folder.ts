import { open, readdir } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { AppError } from "../../errors.ts";
import { TornFile } from "./vault.ts";

/** The ending of a base's folder. LanceDB gives it to every table. */
const ENDING = ".lance";

/** LanceDB's one file that changes. It saves a directory listing and may be missing or wrong. */
const HINT = "_versions/latest_version_hint.json";

/** The name that a file of LanceDB has while it is written. */
const STAGED = /#\d+$/;

/** What a file of each format ends with. */
const MARKS: Readonly<Record<string, string>> = {
  ".lance": "LANC",
  ".idx": "LANC",
  ".manifest": "LANC",
  ".arrow": "ARROW1",
};

export type BaseFolder = ReturnType<typeof createBaseFolder>;

/**
 * Looks at the local files of bases.
 * @param folder holds a folder for each base
 */
export function createBaseFolder(folder: string) {
  const pathOf = (base: string) => join(folder, `${base}${ENDING}`);

  return {
    pathOf,

    /** Names of all bases that have files here, complete or not. */
    async bases(): Promise<string[]> {
      const entries = await readdir(folder, { withFileTypes: true }).catch(absent);
      return entries
        .filter((entry) => entry.isDirectory() && entry.name.endsWith(ENDING))
        .map(({ name }) => name.slice(0, -ENDING.length));
    },

    /** All files in a base's folder, relative to it, with those that LanceDB keeps for itself. */
    allFiles: (base: string) => listFiles(pathOf(base)),

    /** All files of a base, relative to its folder. */
    async files(base: string): Promise<string[]> {
      const files = await listFiles(pathOf(base));
      return files.filter((file) => file !== HINT && !STAGED.test(file));
    },

    /** Bytes of all files of a base. */
    async bytes(base: string): Promise<number> {
      const path = pathOf(base);
      // A file that was removed meanwhile has no size.
      const sizes = (await listFiles(path)).map((file) => Bun.file(join(path, file)).size);
      return sizes.reduce((sum, size) => sum + size, 0);
    },
  };
}

/**
 * All files of a folder, relative to it; none when it isn't there. Between folders is a slash on any
 * system: checkpoints and backups name files so, and may be read on another.
 */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(absent);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((file) => (sep === "/" ? file : file.replaceAll(sep, "/")));
}

export type Handle = Awaited<ReturnType<typeof open>>;

export async function withFile(
  path: string,
  task: (handle: Handle, path: string) => Promise<void>,
  flags: "r" | "r+" = "r",
): Promise<void> {
  const handle = await open(path, flags);
  try {
    await task(handle, path);
  } finally {
    await handle.close();
  }
}

/** @throws TornFile when a file of LanceDB, whatever kind it is, lacks its end */
export async function requireWhole(handle: Handle, path: string): Promise<void> {
  const mark = MARKS[extname(path)] ?? "";
  const { size } = await handle.stat();
  const end = Buffer.alloc(mark.length);
  if (size > 0) await handle.read(end, 0, end.length, Math.max(0, size - end.length));
  if (size === 0 || end.toString("latin1") !== mark) throw new TornFile(path);
}

/** Whether a file that a checkpoint lists is here, with its end. */
export async function isWhole(path: string): Promise<boolean> {
  try {
    await withFile(path, requireWhole);
    return true;
  } catch (error) {
    if (isAbsent(error) || error instanceof TornFile) return false;
    throw error;
  }
}

/** A checkpoint lists a file that can't be had any more. */
export function damaged(cause: unknown): AppError {
  return new AppError("unavailable", "This account's memories are damaged: restore a backup.", {
    cause,
  });
}

export function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** For a folder or a file that need not be there. */
export function absent(error: unknown): never[] {
  if (isAbsent(error)) return [];
  throw error;
}
