import { copyFile, mkdir, readdir, realpath, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  type Asset,
  type AssetFile,
  assetFolder,
  hashFile,
  refuseForeignFolder,
} from "../native/asset.ts";
import { explainFolderError } from "../native/asset-error.ts";
import { moveFile } from "../system/files.ts";
import { modelAsset } from "./model.ts";
import { ModelError } from "./model-error.ts";
import type { ModelDescription } from "./model-folder.ts";
import { download } from "./resumable-download.ts";

/** What is fetched: a model's description and the address below which its files are. */
export interface Fetchable {
  readonly address: string;
  readonly description: ModelDescription;
}

/** How much of a model has come, in bytes. */
export type OnProgress = (count: number, total: number) => void;

/** The folder of a model's files in the cache, where a start looks for them too. */
export function folderOf(description: ModelDescription, cacheDir: string): string {
  return assetFolder(assetOf(description), cacheDir);
}

/** Whether all files of a model are in the cache. Their hashes are compared when it is loaded. */
export async function isFetched(description: ModelDescription, cacheDir: string): Promise<boolean> {
  const folder = folderOf(description, cacheDir);
  for (const { name, bytes } of remoteFiles(description)) {
    const info = await stat(join(folder, name)).catch(() => null);
    if (info?.size !== bytes) return false;
  }
  return true;
}

/**
 * Brings a model's files into the cache; those that are there stay. Each is checked by its SHA-256 before
 * it gets its name. After a break the next call goes on where this one was.
 * @param from files, or folders that have them, in place of the network; told apart by content
 * @throws ModelError with one sentence, AssetError where the cache can't be used
 */
export async function fetchCatalogueModel(
  { address, description }: Fetchable,
  cacheDir: string,
  {
    from,
    onProgress = () => {},
    signal,
    pause,
  }: {
    from?: readonly string[];
    onProgress?: OnProgress;
    signal?: AbortSignal;
    /** Milliseconds before the second try. */
    pause?: number;
  } = {},
): Promise<string> {
  const wanted = folderOf(description, cacheDir);
  try {
    await mkdir(wanted, { recursive: true, mode: 0o700 });
    const folder = await realpath(wanted);
    refuseForeignFolder(folder);
    const files = remoteFiles(description);
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    const given = from && (await candidatesIn(from));
    let before = 0;
    for (const file of files) {
      const path = join(folder, file.name);
      if (!(await isThat(path, file))) {
        const part = join(folder, `fetching-${file.name}`);
        const url = `${address}/${file.path}`;
        if (given) await takeFrom(given, file, part, url);
        else {
          const onBytes = (count: number) => onProgress(before + count, total);
          await download(url, part, file.bytes, {
            onBytes,
            ...(signal && { signal }),
            ...(pause !== undefined && { pause }),
          });
          await requireThat(part, file, url);
        }
        await moveFile(part, path);
      }
      before += file.bytes;
      onProgress(before, total);
    }
    return folder;
  } catch (error) {
    if (error instanceof ModelError || error === signal?.reason) throw error;
    throw explainFolderError(error, wanted);
  }
}

interface RemoteFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Those that are not ours to write. */
function remoteFiles({ files }: ModelDescription): RemoteFile[] {
  return files.flatMap(({ source, ...file }) =>
    "path" in source ? [{ ...file, path: source.path }] : [],
  );
}

/** The files of a model, as they are in the cache. */
export function assetOf(description: ModelDescription): Asset {
  return modelAsset({ ...description, dimension: 1, cosines: { unrelated: 0, same: 1 } });
}

async function isThat(path: string, { bytes, sha256 }: Pick<AssetFile, "bytes" | "sha256">) {
  const info = await stat(path).catch(() => null);
  return info?.isFile() === true && info.size === bytes && (await hashFile(path)) === sha256;
}

async function requireThat(part: string, file: RemoteFile, url: string): Promise<void> {
  if (await isThat(part, file)) return;
  const found = await hashFile(part);
  await rm(part, { force: true });
  throw new ModelError(
    `What is at ${url} is not the model that this program expects (SHA-256 ${found} in place of ${file.sha256}): it has been removed. Try again, or take it from elsewhere by ctxd model fetch with --from or --file.`,
  );
}

/** All files that are named, and those in the folders that are. */
async function candidatesIn(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const info = await stat(path).catch((cause) => {
      throw new ModelError(`${path} is missing or can't be read.`, { cause });
    });
    if (!info.isDirectory()) {
      found.push(path);
      continue;
    }
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    for (const entry of entries)
      if (!entry.isDirectory()) found.push(join(entry.parentPath, entry.name));
  }
  return found;
}

async function takeFrom(
  given: readonly string[],
  file: RemoteFile,
  part: string,
  url: string,
): Promise<void> {
  for (const path of given) {
    if (!(await isThat(path, file))) continue;
    await copyFile(path, part);
    // What was compared may be another file by now.
    if (await isThat(part, file)) return;
  }
  await rm(part, { force: true });
  throw new ModelError(
    `None of the files is ${file.path} (${file.bytes} bytes, SHA-256 ${file.sha256}): it can be downloaded from ${url}.`,
  );
}
