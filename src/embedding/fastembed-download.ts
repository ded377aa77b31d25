import { existsSync } from "node:fs";
import { mkdir, open, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { createStallTimer, requestFailure, requestFile } from "../downloads.ts";
import { refuseForeignFolder } from "../native/asset.ts";
import { moveFile } from "../system/files.ts";
import { unpackModel } from "./model-archive.ts";
import { ModelError } from "./model-error.ts";
import {
  hashFiles,
  readTrustedModel,
  type TrustedModel,
  trustedModelsPath,
  trustModel,
} from "./trusted-models.ts";

/** A model of fastembed's store. */
interface StoredModel {
  /** The name of its archive. */
  readonly archive: string;
  /** SHA-256 of the archive, if known. Otherwise that of the first download is trusted. */
  readonly sha256?: string;
}

/** The dense models of fastembed's store. */
const MODELS: Readonly<Record<string, StoredModel>> = {
  "fast-all-MiniLM-L6-v2": { archive: "sentence-transformers-all-MiniLM-L6-v2" },
  "fast-bge-base-en": { archive: "fast-bge-base-en" },
  "fast-bge-base-en-v1.5": { archive: "fast-bge-base-en-v1.5" },
  "fast-bge-small-en": { archive: "fast-bge-small-en" },
  "fast-bge-small-en-v1.5": {
    archive: "fast-bge-small-en-v1.5",
    sha256: "3858004b3822f64f940280874b8f2d2dc25b34a4f3eb3cdf617bdceeb21ed9ed",
  },
  "fast-bge-small-zh-v1.5": { archive: "fast-bge-small-zh-v1.5" },
  "fast-multilingual-e5-large": { archive: "fast-multilingual-e5-large" },
};
/** Milliseconds for the download of a whole model. */
const TIMEOUT_MS = 3_600_000;
/** Bytes of an archive, and of its files. The largest model has 2.3 GB. */
const MAX_BYTES = 4e9;

/** Names of these models, which CTXD_MODEL accepts. */
export const FASTEMBED_NAMES = Object.keys(MODELS);

/** The folder of a downloaded model in the cache. */
export function fastembedFolder(name: string, cacheDir: string): string {
  return join(cacheDir, "fastembed", name);
}

/**
 * Returns the folder of one of fastembed's models in the cache, and downloads a missing model. fastembed's
 * own download is not used: it accepts an error page or half an archive as the model. The hashes of the
 * first download are recorded in the data folder, and other content of that name is refused later.
 * @throws ModelError with one sentence, AssetError when another user could replace the folder
 */
export async function fetchFastembedModel(
  name: string,
  cacheDir: string,
  {
    dataDir,
    store,
    onDownload,
    models = MODELS,
    maxBytes = MAX_BYTES,
  }: {
    dataDir: string;
    store: string;
    onDownload: (url: string) => void;
    models?: Readonly<Record<string, StoredModel>>;
    /** For tests. */
    maxBytes?: number;
  },
): Promise<string> {
  await mkdir(join(cacheDir, "fastembed"), { recursive: true, mode: 0o700 });
  const realCache = await realpath(cacheDir);
  refuseForeignFolder(join(realCache, "fastembed"));
  const folder = fastembedFolder(name, realCache);
  const known = await readTrustedModel(dataDir, name);
  if (existsSync(folder)) {
    const files = await hashFiles(folder).catch((cause) => {
      throw new ModelError(`The model in ${folder} can't be read: ${cause.message}.`, { cause });
    });
    if (known) requireKnown(known, files, folder, dataDir);
    else await trustModel(dataDir, name, { archive: null, files });
    return folder;
  }
  const { archive = name, sha256 } = models[name] ?? {};
  const url = `${store}/${archive}.tar.gz`;
  const partial = `${folder}.part-${process.pid}`;
  onDownload(url);
  try {
    // A killed process with the same number may have left one.
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true, mode: 0o700 });
    const packed = join(partial, "archive.tar.gz");
    const found = await download(url, packed, maxBytes);
    const wanted = sha256 ?? known?.archive ?? found;
    if (found !== wanted) throw changed(url, { found, wanted, dataDir, isPinned: !!sha256 });
    const extracted = join(partial, name);
    await unpackModel(packed, { name, target: extracted, maxBytes });
    const files = await hashFiles(extracted);
    if (known) requireKnown(known, files, folder, dataDir);
    else await trustModel(dataDir, name, { archive: found, files });
    await moveFile(extracted, folder);
    return folder;
  } catch (cause) {
    if (cause instanceof ModelError) throw cause;
    throw new ModelError(
      `The model ${name} is not in ${folder} and can't be downloaded from ${url} (${requestFailure(cause)}): copy its files there, or set CTXD_MODEL to a folder with them.`,
      { cause },
    );
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Downloads an archive, and returns its SHA-256. @throws Error when it is larger, or incomplete */
async function download(url: string, path: string, maxBytes: number): Promise<string> {
  using stall = createStallTimer();
  const signal = AbortSignal.any([stall.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const response = await requestFile(url, { signal });
  if (!response.ok) throw new Error(`the answer is ${response.status}`);
  const hash = new Bun.CryptoHasher("sha256");
  const file = await open(path, "wx", 0o600);
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      stall.received(chunk.byteLength);
      size += chunk.byteLength;
      if (size > maxBytes) throw new Error(`it is larger than ${maxBytes / 1e9} GB`);
      hash.update(chunk);
      await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
  const length = response.headers.get("content-length");
  if (length === null || Number(length) === size) return hash.digest("hex");
  throw new Error(`only ${size} of ${length} bytes arrived`);
}

/** @throws ModelError for the first file that differs from the first download */
function requireKnown(
  known: TrustedModel,
  files: Readonly<Record<string, string>>,
  folder: string,
  dataDir: string,
): void {
  const names = new Set([...Object.keys(known.files), ...Object.keys(files)]);
  const other = [...names].sort().find((file) => known.files[file] !== files[file]);
  if (other === undefined) return;
  throw new ModelError(
    `The model in ${folder} is not the one that was downloaded first: ${other} differs. Remove that folder to download it again. If you changed it yourself, remove the model's entry in ${trustedModelsPath(dataDir)}.`,
  );
}

function changed(
  url: string,
  {
    found,
    wanted,
    dataDir,
    isPinned,
  }: { found: string; wanted: string; dataDir: string; isPinned: boolean },
): ModelError {
  const remedy = isPinned
    ? "it is not used, and no setting changes that"
    : `it is not used. To accept it, remove the model's entry in ${trustedModelsPath(dataDir)}`;
  const origin = isPinned ? "this program expects" : "was downloaded first";
  return new ModelError(
    `The file at ${url} is not the model that ${origin} (its SHA-256 is ${found}, not ${wanted}): ${remedy}.`,
  );
}
