import { join } from "node:path";
import { openAddon } from "./addons.ts";
import { prepareAsset } from "./asset.ts";
import { embeddedAsset } from "./embedded-asset.ts";

/** The library's own types: what `loadLanceDb` gives is the whole module. */
export type LanceDb = typeof import("@lancedb/lancedb");

/**
 * Loads LanceDB. In the executable its native library is unpacked into the cache folder first, if
 * it is not there yet; a checkout has it in node_modules.
 * @throws AssetError when the library cannot be unpacked or loaded
 */
export async function loadLanceDb(cacheDir: string): Promise<LanceDb> {
  const asset = embeddedAsset("lancedb");
  if (asset) openAddon("lancedb", join(await prepareAsset(asset, cacheDir), "lancedb.node"));
  return await import("@lancedb/lancedb");
}
