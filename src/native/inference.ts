import { join } from "node:path";
import { openAddon } from "./addons.ts";
import { prepareAsset } from "./asset.ts";
import { provideCxxRuntime } from "./cxx-runtime.ts";
import { embeddedAsset } from "./embedded-asset.ts";

/**
 * Puts the native libraries of fastembed in place: in the executable they are unpacked into the
 * cache folder, a checkout has them in node_modules. To be called before fastembed is imported.
 * @throws AssetError when a library cannot be unpacked or loaded
 */
export async function prepareInference(cacheDir: string): Promise<void> {
  const asset = embeddedAsset("inference");
  if (!asset) return;
  await provideCxxRuntime(cacheDir);
  const folder = await prepareAsset(asset, cacheDir);
  openAddon("tokenizers", join(folder, "tokenizers.node"));
  // Its run path is its own folder, where ONNX Runtime itself was unpacked too.
  openAddon("onnxruntime", join(folder, "onnxruntime.node"));
}
