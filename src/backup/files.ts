import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "../errors.ts";
import { createDigester, type FileDigest } from "../system/file-digest.ts";
import { syncFolder } from "../system/files.ts";
import type { Transform } from "./age.ts";
import { BackupError, explainFailure } from "./backup-error.ts";

/** Bytes that are copied at once. */
const CHUNK = 1 << 20;
/** Bytes that are encrypted at once. It is small, so that a server can answer requests meanwhile. */
const PIECE = 1 << 16;

/**
 * Copies a file to a new one that only its owner can read. The copy is durable when this returns.
 * @param to path of the new file; null to only read
 * @param maxBytes after which it stops, so that a file that is longer than it says takes no time
 * @returns `null` when the file does not exist
 * @throws BackupError that names the file that can't be read or written
 */
export async function copyFile(
  from: string,
  to: string | null,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<FileDigest | null> {
  return (await copyThrough(from, to, null, maxBytes))?.written ?? null;
}

/**
 * Transforms a file piece by piece and writes the result to a new one, like `copyFile`.
 * @param transform null to leave the bytes as they are
 * @param maxBytes of the result, as in `copyFile`
 * @returns the contents before and after; `null` when the file does not exist
 * @throws as `copyFile`, or what `transform` throws
 */
export async function copyThrough(
  from: string,
  to: string | null,
  transform: Transform | null,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<{ read: FileDigest; written: FileDigest } | null> {
  const source = await explainFailure(from, "read", () => openIfExists(from));
  if (source === null) return null;
  await using _ = source;
  const target = to === null ? null : await createFile(to);
  try {
    const written = createDigester();
    const read = transform ? createDigester() : written;
    const chunks = transform
      ? await transform(streamOf(source, from, read.add))
      : chunksOf(source, from);
    for await (const chunk of chunks) {
      written.add(chunk);
      if (to !== null) await explainFailure(to, "written", async () => target?.writeFile(chunk));
      if (written.bytes() > maxBytes) break;
    }
    if (to !== null) await explainFailure(to, "written", async () => target?.sync());
    const digest = written.digest();
    return { read: transform ? read.digest() : digest, written: digest };
  } catch (error) {
    if (to !== null) await rm(to, { force: true });
    throw error;
  } finally {
    await target?.close();
  }
}

/**
 * Reads a whole file into memory.
 * @param max maximum size in bytes
 * @returns `null` when the file does not exist
 * @throws BackupError when it can't be read or is larger
 */
export function readSmall(path: string, max: number): Promise<Buffer | null> {
  const read = async (bytes: ReadableStream) =>
    Buffer.from(await new Response(bytes).arrayBuffer());
  return readPieces(path, max, read);
}

/**
 * Passes the bytes of a file to `use`, piece by piece.
 * @param max as in `readSmall`
 * @returns `null` when the file does not exist
 * @throws as `readSmall`
 */
export async function readPieces<T>(
  path: string,
  max: number,
  use: (bytes: ReadableStream<Uint8Array>) => Promise<T>,
): Promise<T | null> {
  const source = await explainFailure(path, "read", () => openIfExists(path));
  if (source === null) return null;
  await using _ = source;
  if ((await source.stat()).size > max) {
    throw new BackupError(`${path} can't be read: it is too large.`);
  }
  return await use(streamOf(source, path, () => {}));
}

/** Makes the entries of a folder and of all its subfolders durable. */
export async function syncFolders(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  for (const { parentPath, name } of folders) await syncFolder(join(parentPath, name));
  await syncFolder(folder);
}

/** Refuses symbolic links, which could lead anywhere, and does not block on pipes. */
const OPEN_FLAGS =
  constants.O_RDONLY |
  // Windows has neither flag.
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

async function openIfExists(path: string): Promise<FileHandle | null> {
  try {
    const handle = await open(path, OPEN_FLAGS);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
  throw new BackupError(`${path} can't be read: it is not a regular file.`);
}

/** Creates a file that only its owner can read, and missing parent folders. */
async function createFile(path: string): Promise<FileHandle> {
  return await explainFailure(path, "written", async () => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return await open(path, "wx", 0o600);
  });
}

/** The bytes of a file. A chunk is valid until the next one is read. */
async function* chunksOf(source: FileHandle, path: string): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  for (;;) {
    const { bytesRead } = await explainFailure(path, "read", () => source.read(buffer, 0, CHUNK));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Streams a file, reading it on demand. @param use receives each piece */
function streamOf(
  source: FileHandle,
  path: string,
  use: (chunk: Uint8Array) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const buffer = Buffer.allocUnsafe(PIECE);
      const { bytesRead } = await explainFailure(path, "read", () => source.read(buffer, 0, PIECE));
      if (bytesRead === 0) return controller.close();
      const chunk = buffer.subarray(0, bytesRead);
      use(chunk);
      controller.enqueue(chunk);
    },
  });
}
