import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, realpath, rm, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { moveFile, replaceFile, TEMPORARY } from "../system/files.ts";
import { findForeignAncestor } from "../system/foreign-ancestor.ts";
import { isObject, parsed } from "../text/parse-json.ts";
import { AssetError, explainFolderError } from "./asset-error.ts";

/** Size, times and inode of each file of an asset folder when its content was last checked, by name. */
type Stamp = Record<string, string>;

const NAME = "checked.json";
/** Milliseconds after which the folder of an unused version is removed. */
const UNUSED_MS = 30 * 24 * 3_600_000;

/** The stamp of a folder; empty when it is missing or damaged, and then every file is checked. */
async function readStamp(folder: string): Promise<Stamp> {
  const text = await readFile(join(folder, NAME), "utf8").catch(() => "{}");
  const stamp = parsed(text);
  return isStamp(stamp) ? stamp : {};
}

function isStamp(value: unknown): value is Stamp {
  return isObject(value) && Object.values(value).every((entry) => typeof entry === "string");
}

/**
 * Marks an asset's folder as used now, and removes the folders of other versions that were not used for
 * 30 days: each takes 200 MB. A folder that can't be removed stays. A process that has its files open
 * keeps them.
 */
export async function removeStaleAssets(folder: string, now = Date.now()): Promise<void> {
  const [cacheDir, used] = [dirname(folder), basename(folder)];
  const versions = new RegExp(`^${used.replace(/-[0-9a-f]{16}$/, "")}-[0-9a-f]{16}$`);
  try {
    await utimes(folder, now / 1_000, now / 1_000);
    for (const name of await readdir(cacheDir)) {
      if (name === used || !versions.test(name)) continue;
      const { mtimeMs } = await stat(join(cacheDir, name));
      if (now - mtimeMs < UNUSED_MS) continue;
      await rm(join(cacheDir, name), { recursive: true, force: true });
    }
  } catch {
    // The cache works without this, for example when only root may change it.
  }
}

/** A file that the program needs on disk, and the source of its bytes. */
export interface AssetFile {
  readonly name: string;
  readonly bytes: number;
  /** Of the content, in hex. */
  readonly sha256: string;
  /** Names the source in the message about unexpected content. */
  readonly origin: string;
  open(): AsyncIterable<Uint8Array>;
}

/** Files that belong in one folder: a model, or native libraries that find each other. */
export interface Asset {
  readonly name: string;
  readonly files: readonly AssetFile[];
}

/**
 * Makes sure that every file of the asset is in the cache, complete and unchanged, and returns its folder.
 * The folder's name contains the hash of the content, so two versions of the program never share one. Each
 * file appears by a rename, so processes that do this at the same time never see half a file. A checked
 * file is not hashed again while its size, times and inode stay the same.
 * @throws AssetError when the folder cannot be used or a source has unexpected content
 */
export async function prepareAsset(asset: Asset, cacheDir: string): Promise<string> {
  const path = assetFolder(asset, cacheDir);
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    // A symbolic link in the path could point elsewhere by the time the files are used.
    const folder = await realpath(path);
    refuseForeignFolder(folder);
    const known = await readStamp(folder);
    const stamp: Stamp = {};
    for (const file of asset.files) {
      stamp[file.name] = await prepareFile(file, folder, known[file.name]);
    }
    // If this fails, the next start checks the files again.
    if (!Bun.deepEquals(stamp, known))
      await replaceFile(join(folder, NAME), JSON.stringify(stamp)).catch(() => {});
    await removeStaleAssets(folder);
    return folder;
  } catch (error) {
    throw explainFolderError(error, path);
  }
}

/** The folder of an asset in the cache. `prepareAsset` creates it. */
export function assetFolder(asset: Asset, cacheDir: string): string {
  return join(cacheDir, `${asset.name}-${identity(asset).slice(0, 16)}`);
}

/** One hash of the name and content of every file. */
function identity(asset: Asset): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const file of asset.files) hash.update(`${file.name}\0${file.sha256}\n`);
  return hash.digest("hex");
}

/**
 * Refuses a folder that users other than this one and root can write to or replace: they would decide
 * which code runs here.
 * @throws AssetError that names the folder
 */
export function refuseForeignFolder(folder: string): void {
  const foreign = findForeignAncestor(folder);
  if (!foreign) return;
  const which = foreign.folder === folder ? "" : `folder ${foreign.folder} above the `;
  throw new AssetError(
    `The ${which}cache folder ${folder} ${foreign.reason}: set CTXD_CACHE_DIR to one that only you and root can replace.`,
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
  await writeAsset(file, folder);
  return (await fingerprint(path)) ?? "";
}

/** A text that changes whenever a file is written or replaced: unlike mtime, ctime cannot be set back. */
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

/** Writes under a temporary name and renames, so that the final name never has part of a file. */
async function writeAsset(file: AssetFile, folder: string): Promise<void> {
  await removeLeftovers(folder);
  const path = join(folder, file.name);
  const temporary = join(folder, `${TEMPORARY}${file.name}-${randomUUID()}`);
  const handle = await open(temporary, "wx", 0o600);
  try {
    try {
      for await (const chunk of readExpected(file)) await handle.writeFile(chunk);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await moveFile(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    // Windows cannot replace a loaded library: another process unpacked it first.
    if ((await hashFile(path).catch(() => null)) === file.sha256) return;
    throw error;
  }
}

/**
 * The bytes of a file's source. They are verified only when the generator ends without an error.
 * @throws AssetError when the source cannot be read or has unexpected content
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

/** Milliseconds after which a temporary file belongs to a killed process, not to one that still writes. */
const ABANDONED_AFTER_MS = 3_600_000;

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(TEMPORARY)) continue;
    const path = join(folder, name);
    const info = await stat(path).catch(() => null);
    if (info && Date.now() - info.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
  }
}
