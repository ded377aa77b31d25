import { existsSync } from "node:fs";
import { mkdir, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { refuseForeignFolder } from "../native/asset.ts";
import { ModelError } from "./model-error.ts";

/** The dense models that fastembed has in its store, with the names of their archives there. */
const MODELS: Readonly<Record<string, string>> = {
  "fast-all-MiniLM-L6-v2": "sentence-transformers-all-MiniLM-L6-v2",
  "fast-bge-base-en": "fast-bge-base-en",
  "fast-bge-base-en-v1.5": "fast-bge-base-en-v1.5",
  "fast-bge-small-en": "fast-bge-small-en",
  "fast-bge-small-en-v1.5": "fast-bge-small-en-v1.5",
  "fast-bge-small-zh-v1.5": "fast-bge-small-zh-v1.5",
  "fast-multilingual-e5-large": "fast-multilingual-e5-large",
};
/** Milliseconds for a connection, and for all of a model of 2 GB. */
const TIMEOUT = 3_600_000;

/** Names that CTXD_MODEL may have besides folders. */
export const MODEL_NAMES = Object.keys(MODELS);

/** Where a model is in the cache, once it was downloaded. */
export function downloadedModel(name: string, cacheDir: string): string {
  return join(cacheDir, "fastembed", name);
}

/**
 * The folder of one of fastembed's models in the cache. It is downloaded when it isn't there:
 * fastembed's own download takes an error page or half an archive for the model.
 * @throws ModelError with one sentence, AssetError where another user could replace it
 */
export async function fetchModel(
  name: string,
  cacheDir: string,
  { store, onDownload }: { store: string; onDownload: (url: string) => void },
): Promise<string> {
  await mkdir(join(cacheDir, "fastembed"), { recursive: true, mode: 0o700 });
  const realCache = await realpath(cacheDir);
  refuseForeignFolder(join(realCache, "fastembed"));
  const folder = downloadedModel(name, realCache);
  if (existsSync(folder)) return folder;
  const url = `${store}/${MODELS[name]}.tar.gz`;
  const partial = `${folder}.part-${process.pid}`;
  onDownload(url);
  try {
    await mkdir(partial, { recursive: true, mode: 0o700 });
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) });
    if (!response.ok) throw new Error(`the answer is ${response.status}`);
    await new Bun.Archive(await response.arrayBuffer()).extract(partial);
    // The archive holds one folder with the model's name.
    await rename(join(partial, name), folder);
    return folder;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/\.$/, "") : String(cause);
    throw new ModelError(
      `The model ${name} is not in ${folder} and can't be downloaded from ${url} (${reason}): put its files there, or set CTXD_MODEL to a folder that has them.`,
      { cause },
    );
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}
