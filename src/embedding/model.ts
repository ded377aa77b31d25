import { dirname, join } from "node:path";
import type { Asset, AssetFile } from "../native/asset.ts";
import { prepareAsset } from "../native/asset.ts";
import { embeddedAsset } from "../native/embedded-asset.ts";
import { builtInModel, type ModelManifest } from "./manifest.ts";

/**
 * Makes sure that the model's files are in the cache, and returns their folder. They come from the
 * executable, or in a checkout from `source`, which is by default the npm package.
 * @throws AssetError when the folder cannot be used or a file does not match the manifest
 */
export function prepareModel(options: {
  cacheDir: string;
  manifest?: ModelManifest | undefined;
  source?: string | undefined;
}): Promise<string> {
  return prepareAsset(findModel(options), options.cacheDir);
}

/** The model's files with their sources; see `prepareModel`. */
export function findModel(
  options: { manifest?: ModelManifest | undefined; source?: string | undefined } = {},
): Asset {
  const { manifest = builtInModel } = options;
  const embedded = manifest.id === builtInModel.id ? embeddedAsset("model") : null;
  return embedded ?? modelAsset(manifest, options.source);
}

/** The model's files in a source folder, by default the one in the manifest. */
export function modelAsset(manifest: ModelManifest, source = sourceFolder(manifest)): Asset {
  return { name: "model", files: manifest.files.map((file) => modelFile(file, source)) };
}

function modelFile(file: ModelManifest["files"][number], folder: string): AssetFile {
  const { name, bytes, sha256, source } = file;
  if ("text" in source) {
    const content = new TextEncoder().encode(source.text);
    return { name, bytes, sha256, origin: name, open: () => streamOf(content) };
  }
  const origin = join(folder, source.path);
  return { name, bytes, sha256, origin, open: () => Bun.file(origin).stream() };
}

async function* streamOf(content: Uint8Array): AsyncIterable<Uint8Array> {
  yield content;
}

function sourceFolder({ source }: ModelManifest): string {
  if (source.package === undefined) return source.folder;
  return join(dirname(Bun.resolveSync(source.package, import.meta.dir)), source.folder);
}
