import { copyFile, mkdir, open, readdir, realpath, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { assetFolder, hashFile, refuseForeignFolder } from "../native/asset.ts";
import { explainFolderError } from "../native/asset-error.ts";
import { createStallTimer, Refusal, requestFailure, requestFile } from "../system/downloads.ts";
import { moveFile } from "../system/files.ts";
import { ModelError, type ModelFile, modelFiles } from "./manifest.ts";
import type { ModelDescription } from "./model-folder.ts";

/** Attempts of a download, and milliseconds before the second one. Each later pause is twice as long. */
const MAX_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 1_000;

interface DownloadOptions {
  onBytes: (count: number) => void;
  signal?: AbortSignal | undefined;
  /** Milliseconds before the second attempt. */
  pause?: number | undefined;
  /** For tests: milliseconds after which an attempt has stalled. */
  stallMs?: number;
}

/**
 * Downloads a file, and resumes the partial file of an earlier call. After an interruption it retries some
 * times.
 * @param part path of the partial file; it need not exist
 * @param bytes size of the complete file
 * @throws ModelError when the download fails
 */
export async function download(
  url: string,
  part: string,
  bytes: number,
  options: DownloadOptions,
): Promise<void> {
  const { signal, pause = FIRST_PAUSE_MS } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await append(url, part, bytes, options);
    } catch (cause) {
      signal?.throwIfAborted();
      // An error of the file, such as a full disk: another attempt does not help.
      if (isFileError(cause)) throw cause;
      const isFinal = cause instanceof Refusal || attempt === MAX_ATTEMPTS;
      if (!isFinal) {
        await Bun.sleep(pause * 2 ** (attempt - 1));
        continue;
      }
      throw new ModelError(
        `${url} can't be downloaded (${requestFailure(cause)}): try again to resume the download, or pass the file to ctxd model fetch with --file.`,
        { cause },
      );
    }
  }
}

const FILE_SYSCALLS: readonly unknown[] = ["open", "write", "fsync", "ftruncate"];

function isFileError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && FILE_SYSCALLS.includes(error.syscall);
}

/** One attempt: requests the missing bytes and appends them. */
async function append(
  url: string,
  part: string,
  bytes: number,
  { onBytes, signal, stallMs }: DownloadOptions,
): Promise<void> {
  await using handle = await open(part, "a", 0o600);
  const found = (await handle.stat()).size;
  if (found > bytes) await handle.truncate(0);
  let size = found > bytes ? 0 : found;
  if (size === bytes) return;
  using stall = createStallTimer(stallMs);
  const response = await requestFile(url, {
    headers: size > 0 ? { range: `bytes=${size}-` } : {},
    signal: signal ? AbortSignal.any([signal, stall.signal]) : stall.signal,
  });
  const isContinued =
    response.status === 206 &&
    response.headers.get("content-range")?.startsWith(`bytes ${size}-`) === true;
  if (!isContinued && response.status !== 200) {
    const message = `the answer is ${response.status}`;
    if (response.status === 416) await handle.truncate(0);
    else if (response.status < 500 && response.status !== 429) throw new Refusal(message);
    throw new Error(message);
  }
  // A server without support for ranges sends the whole file.
  if (!isContinued) {
    await handle.truncate(0);
    size = 0;
  }
  for await (const chunk of response.body ?? []) {
    stall.received(chunk.byteLength);
    if (size + chunk.byteLength > bytes) {
      // It is another file, so the next download must not continue it.
      await handle.truncate(0);
      throw new Refusal("the answer is larger than the file");
    }
    await handle.writeFile(chunk);
    size += chunk.byteLength;
    onBytes(size);
  }
  if (size < bytes) throw new Error(`only ${size} of ${bytes} bytes arrived`);
  await handle.sync();
}

/** A model's description and the address of its files. */
export interface DownloadableModel {
  readonly address: string;
  readonly description: ModelDescription;
}

/** The folder of a model's files in the cache, which a start reads too. */
export function folderOf(description: ModelDescription, cacheDir: string): string {
  return assetFolder(modelFiles(description), cacheDir);
}

/** Whether all files of a model are in the cache. Their hashes are checked when the model is loaded. */
export async function isFetched(description: ModelDescription, cacheDir: string): Promise<boolean> {
  const folder = folderOf(description, cacheDir);
  for (const { name, bytes } of remoteFiles(description)) {
    const info = await stat(join(folder, name)).catch(() => null);
    if (info?.size !== bytes) return false;
  }
  return true;
}

/**
 * Downloads the missing files of a model into the cache. Each is checked by its SHA-256 before it gets its
 * final name. After an interruption the next call resumes the download.
 * @param from files, or folders with files, to copy from instead; they are recognized by their content
 * @throws ModelError with one sentence, AssetError when the cache can't be used
 */
export async function fetchCatalogueModel(
  { address, description }: DownloadableModel,
  cacheDir: string,
  {
    from,
    onProgress = () => {},
    signal,
    pause,
  }: Pick<DownloadOptions, "signal" | "pause"> & {
    from?: readonly string[];
    /** Receives the bytes of a model that have been downloaded, and its size. */
    onProgress?: (count: number, total: number) => void;
  } = {},
): Promise<string> {
  const path = folderOf(description, cacheDir);
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const folder = await realpath(path);
    refuseForeignFolder(folder);
    const files = remoteFiles(description);
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    const given = from && (await candidatesIn(from));
    let before = 0;
    for (const file of files) {
      const target = join(folder, file.name);
      if (!(await isExpected(target, file))) {
        const part = join(folder, `fetching-${file.name}`);
        const url = `${address}/${file.path}`;
        if (given) await copyFrom(given, file, part, url);
        else {
          const onBytes = (count: number) => onProgress(before + count, total);
          await download(url, part, file.bytes, { onBytes, signal, pause });
          await requireExpected(part, file, url);
        }
        await moveFile(part, target);
      }
      before += file.bytes;
      onProgress(before, total);
    }
    return folder;
  } catch (error) {
    if (error instanceof ModelError || error === signal?.reason) throw error;
    throw explainFolderError(error, path);
  }
}

type RemoteFile = Omit<ModelFile, "source"> & { readonly path: string };

/** The files that are downloaded, without those that ctxd generates. */
function remoteFiles({ files }: ModelDescription): RemoteFile[] {
  return files.flatMap(({ source, ...file }) =>
    "path" in source ? [{ ...file, path: source.path }] : [],
  );
}

async function isExpected(path: string, { bytes, sha256 }: Pick<ModelFile, "bytes" | "sha256">) {
  const info = await stat(path).catch(() => null);
  return info?.isFile() === true && info.size === bytes && (await hashFile(path)) === sha256;
}

async function requireExpected(part: string, file: RemoteFile, url: string): Promise<void> {
  if (await isExpected(part, file)) return;
  const found = await hashFile(part);
  await rm(part, { force: true });
  throw new ModelError(
    `The file at ${url} is not the expected model (its SHA-256 is ${found}, not ${file.sha256}) and has been removed. Try again, or get it from elsewhere by ctxd model fetch with --from or --file.`,
  );
}

/** All given files, and all files in the given folders. */
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

async function copyFrom(
  given: readonly string[],
  file: RemoteFile,
  part: string,
  url: string,
): Promise<void> {
  for (const path of given) {
    if (!(await isExpected(path, file))) continue;
    await copyFile(path, part);
    // The file may have changed since it was checked.
    if (await isExpected(part, file)) return;
  }
  await rm(part, { force: true });
  throw new ModelError(
    `None of the files is ${file.path} (${file.bytes} bytes, SHA-256 ${file.sha256}): download it from ${url}.`,
  );
}
