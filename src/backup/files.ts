import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BackupError, explained } from "./backup-error.ts";

/** What a file holds, as a manifest records it. */
export interface Content {
  bytes: number;
  /** In hex. */
  sha256: string;
}

const CHUNK = 1 << 20;

/**
 * Copies a file to a new one that its owner alone may read, makes sure that it is on the disk, and
 * returns what was copied.
 * @returns `null` when there is no such file to copy
 * @throws BackupError that names the file that can't be read or written
 */
export async function copyFile(from: string, to: string): Promise<Content | null> {
  const source = await explained(from, "read", () => openIfThere(from));
  if (source === null) return null;
  await using _ = source;
  await explained(to, "written", () => mkdir(dirname(to), { recursive: true, mode: 0o700 }));
  await using target = await explained(to, "written", () => open(to, "wx", 0o600));
  try {
    const content = await readChunks(source, from, (chunk) =>
      explained(to, "written", () => target.writeFile(chunk)),
    );
    await explained(to, "written", () => target.sync());
    return content;
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

/**
 * Reads a whole file and returns what it holds.
 * @returns `null` when there is no such file
 * @throws BackupError when it can't be read
 */
export async function readContent(path: string): Promise<Content | null> {
  const source = await explained(path, "read", () => openIfThere(path));
  if (source === null) return null;
  await using _ = source;
  return await readChunks(source, path, async () => {});
}

/**
 * Reads a file as text.
 * @param most bytes that it may have
 * @returns `null` when there is no such file
 * @throws BackupError when it can't be read, or is larger
 */
export async function readSmall(path: string, most: number): Promise<string | null> {
  const source = await explained(path, "read", () => openIfThere(path));
  if (source === null) return null;
  await using _ = source;
  return await explained(path, "read", async () => {
    if ((await source.stat()).size <= most) return await source.readFile("utf8");
    throw new BackupError(`${path} can't be read: it is too large.`);
  });
}

/** Makes sure that the names in a folder, and in all folders below, are on the disk. */
export async function syncFolders(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  for (const { parentPath, name } of folders) await syncFolder(join(parentPath, name));
  await syncFolder(folder);
}

/** Makes sure that the names in a folder are on the disk. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}

/**
 * Does something with each, a few at a time: most of the time goes by waiting for the disk. When it
 * fails, nothing is going on any more.
 */
export async function forEach<T>(
  items: readonly T[],
  task: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const failures: unknown[] = [];
  const work = async () => {
    for (const item of waiting) {
      if (failures.length > 0) return;
      await task(item).catch((error) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  if (failures.length > 0) throw failures[0];
}

const CONCURRENCY = 8;

/** A link in a backup could lead anywhere, and a pipe would be waited for without end. */
const ONLY_A_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    const handle = await open(path, ONLY_A_FILE);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  throw new BackupError(`${path} can't be read: it is no regular file.`);
}

async function readChunks(
  source: FileHandle,
  path: string,
  use: (chunk: Uint8Array) => Promise<void>,
): Promise<Content> {
  const hash = new Bun.CryptoHasher("sha256");
  const buffer = Buffer.allocUnsafe(CHUNK);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await explained(path, "read", () => source.read(buffer, 0, CHUNK));
    if (bytesRead === 0) return { bytes, sha256: hash.digest("hex") };
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    bytes += bytesRead;
    await use(chunk);
  }
}
