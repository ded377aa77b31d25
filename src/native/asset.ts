import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, realpath, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { moveFile } from "../system/files.ts";
import { findForeignAncestor } from "../system/foreign-ancestor.ts";
import { AssetError, explainFolderError } from "./asset-error.ts";
import { removeStaleAssets } from "./stale-assets.ts";
import { readStamp, type Stamp, writeStamp } from "./stamp.ts";

/** A file that a running program needs under a real path, and where its bytes come from. */
export interface AssetFile {
  readonly name: string;
  readonly bytes: number;
  /** Of the content, in hex. */
  readonly sha256: string;
  /** What `open` reads, for the message when its content is not the expected one. */
  readonly origin: string;
  open(): AsyncIterable<Uint8Array>;
}

/** Files that belong in one folder: a model, or native libraries that find each other. */
export interface Asset {
  readonly name: string;
  readonly files: readonly AssetFile[];
}

/**
 * Makes sure that every file of the asset is in the cache, complete and unchanged, and returns
 * their folder. Its name carries the hash of the content, so two versions of the program never
 * share one; each file appears by a rename, so processes that do this at the same time never see
 * half a file. What was checked once is not hashed again while its size, times and inode stay.
 * @throws AssetError when the folder cannot be used or a source is not what the program expects
 */
export async function prepareAsset(asset: Asset, cacheDir: string): Promise<string> {
  const wanted = assetFolder(asset, cacheDir);
  try {
    await mkdir(wanted, { recursive: true, mode: 0o700 });
    // A link on the way could lead elsewhere by the time that the files are used.
    const folder = await realpath(wanted);
    refuseForeignFolder(folder);
    const known = await readStamp(folder);
    const stamp: Stamp = {};
    for (const file of asset.files) {
      stamp[file.name] = await prepareFile(file, folder, known[file.name]);
    }
    if (!Bun.deepEquals(stamp, known)) await writeStamp(folder, stamp);
    await removeStaleAssets(folder);
    return folder;
  } catch (error) {
    throw explainFolderError(error, wanted);
  }
}

/** Where an asset is in a cache folder, once it was prepared. */
export function assetFolder(asset: Asset, cacheDir: string): string {
  return join(cacheDir, `${asset.name}-${identity(asset).slice(0, 16)}`);
}

/** Name and content of every file, as one hash. */
function identity(asset: Asset): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const file of asset.files) hash.update(`${file.name}\0${file.sha256}\n`);
  return hash.digest("hex");
}

/**
 * Whoever can write into the folder, or put another one in its place, decides what code runs here:
 * only this user and root may.
 */
export function refuseForeignFolder(folder: string): void {
  const foreign = findForeignAncestor(folder);
  if (!foreign) return;
  const it = foreign.folder === folder ? "" : `folder ${foreign.folder} above the `;
  throw new AssetError(
    `The ${it}cache folder ${folder} ${foreign.reason}: set CTXD_CACHE_DIR to one that only you and root can replace.`,
  );
}

async function prepareFile(
  file: AssetFile,
  folder: string,
  known: string | undefined,
): Promise<string> {
  const path = join(folder, file.name);
  const found = await fingerprint(path);
  if (found !== null) {
    if (found === known) return found;
    const hash = await hashFile(path);
    if (hash === file.sha256) return found;
  }
  await writeFile(file, folder);
  return (await fingerprint(path)) ?? "";
}

/** Changes whenever a file is written or replaced: unlike mtime, ctime cannot be set back. */
async function fingerprint(path: string): Promise<string | null> {
  const info = await stat(path, { bigint: true }).catch(() => null);
  return info?.isFile() ? [info.size, info.mtimeNs, info.ctimeNs, info.ino].join(":") : null;
}

/** SHA-256 of a file, in hex. */
export async function hashFile(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk);
  return hash.digest("hex");
}

/** Writes under a temporary name and renames, so that the name never stands for part of a file. */
async function writeFile(file: AssetFile, folder: string): Promise<void> {
  await removeLeftovers(folder);
  const path = join(folder, file.name);
  const temporary = join(folder, `${TEMPORARY}${file.name}-${randomUUID()}`);
  const handle = await open(temporary, "wx", 0o600);
  try {
    await copy(file, handle).finally(() => handle.close());
    await moveFile(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    // Windows replaces no library that is loaded: another process unpacked it first.
    if ((await hashFile(path).catch(() => null)) === file.sha256) return;
    throw error;
  }
}

async function copy(file: AssetFile, target: FileHandle): Promise<void> {
  for await (const chunk of readExpected(file)) await target.writeFile(chunk);
  await target.sync();
}

/**
 * The bytes of a file's source, which are the expected ones only if this ends without an error.
 * @throws AssetError when it cannot be read, or is another file
 */
export async function* readExpected(file: AssetFile): AsyncGenerator<Uint8Array> {
  const hash = new Bun.CryptoHasher("sha256");
  try {
    for await (const chunk of file.open()) {
      hash.update(chunk);
      yield chunk;
    }
  } catch (cause) {
    throw new AssetError(`${file.origin} is missing or cannot be read.`, { cause });
  }
  const found = hash.digest("hex");
  if (found === file.sha256) return;
  throw new AssetError(
    `${file.origin} is not the expected file: its SHA-256 is ${found}, not ${file.sha256}.`,
  );
}

const TEMPORARY = ".part-";
const ABANDONED_AFTER_MS = 3_600_000;

/** A killed process leaves its temporary file; one younger than an hour may be in the making. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(TEMPORARY)) continue;
    const path = join(folder, name);
    const info = await stat(path).catch(() => null);
    if (info && Date.now() - info.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
  }
}
