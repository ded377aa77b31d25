import { dlopen } from "bun:ffi";
import { join } from "node:path";
import { prepareAsset } from "./asset.ts";
import { explainLoadError } from "./asset-error.ts";
import { embeddedAsset } from "./embedded-asset.ts";
import { CXX_RUNTIME } from "./targets.ts";

/**
 * ONNX Runtime and the tokenizer are written in C++, and a bare system lacks the library for that:
 * the executable then loads the one that it carries. What is loaded is found by its name later on.
 * @throws AssetError when it cannot be unpacked or loaded
 */
export async function provideCxxRuntime(cacheDir: string): Promise<void> {
  const asset = embeddedAsset("cxx");
  if (!asset || !failure(CXX_RUNTIME)) return;
  const folder = await prepareAsset(asset, cacheDir);
  const cause = failure(join(folder, CXX_RUNTIME));
  if (cause) throw explainLoadError(cause, folder);
}

/** Loads a library for good, or tells why it cannot be loaded. */
function failure(library: string): Error | null {
  try {
    // Bun wants at least one symbol; every version has this one.
    dlopen(library, { __cxa_demangle: { args: ["ptr", "ptr", "ptr", "ptr"], returns: "ptr" } });
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
