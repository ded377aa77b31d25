import { dlopen } from "bun:ffi";
import { join } from "node:path";
import { setNativeEnvironment } from "../system/c-library.ts";
import { openAddon } from "./addons.ts";
import { prepareAsset } from "./asset.ts";
import { explainLoadError } from "./asset-error.ts";
import { embeddedAsset } from "./embedded-asset.ts";
import { CXX_RUNTIME } from "./targets.ts";

/**
 * Loads fastembed's native libraries; call this before fastembed is imported. The executable unpacks them
 * into the cache folder. A checkout has them in node_modules, and nothing is done.
 * @throws AssetError when a library cannot be unpacked or loaded
 */
export async function prepareInference(cacheDir: string): Promise<void> {
  const asset = embeddedAsset("inference");
  if (!asset) return;
  await provideCxxRuntime(cacheDir);
  const folder = await prepareAsset(asset, cacheDir);
  openAddon("tokenizers", join(folder, "tokenizers.node"));
  // The addon's run path is its own folder, where it finds ONNX Runtime.
  openAddon("onnxruntime", join(folder, "onnxruntime.node"));
}

/**
 * Forbids ONNX Runtime to report to its maker. From version 1.29 on it keeps an identifier of the machine
 * and a database of events in the user's cache folder and uploads them, unless this variable is set before
 * it starts (https://github.com/microsoft/onnxruntime/pull/27379). Call this from the main thread, before
 * other threads start.
 * @throws Error when the variable cannot be set: no embeddings are better than telemetry
 */
export function disableTelemetry(): void {
  setNativeEnvironment("ORT_DISABLE_TELEMETRY", "1");
}

/**
 * Loads the C++ runtime library that the executable carries when the system has none. ONNX Runtime and the
 * tokenizer need it, and the loader then finds the loaded one by its name.
 * @throws AssetError when it cannot be unpacked or loaded
 */
async function provideCxxRuntime(cacheDir: string): Promise<void> {
  const asset = embeddedAsset("cxx");
  if (!asset || loadLibrary(CXX_RUNTIME) === null) return;
  const folder = await prepareAsset(asset, cacheDir);
  const cause = loadLibrary(join(folder, CXX_RUNTIME));
  if (cause) throw explainLoadError(cause, folder);
}

/** Loads a C++ library permanently. Returns the error when it cannot be loaded. */
function loadLibrary(library: string): Error | null {
  try {
    // Bun requires at least one symbol; every version of the library has this one.
    dlopen(library, { __cxa_demangle: { args: ["ptr", "ptr", "ptr", "ptr"], returns: "ptr" } });
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
