import { join } from "node:path";
import { openAddon } from "./addons.ts";
import { prepareAsset } from "./asset.ts";
import { limitHeaps, setNativeEnvironment } from "./c-library.ts";
import { embeddedAsset } from "./embedded-asset.ts";

/** The library's own types: what `loadLanceDb` gives is the whole module. */
export type LanceDb = typeof import("@lancedb/lancedb");

const HEAPS = 2;
const LARGE = 1 << 20;
/** Bytes that a scan of a table reads ahead; 2 GiB unless told. */
const READ_AHEAD = 32 << 20;

/**
 * Sets what LanceDB's threads go by. To be called from the main thread before there are others.
 * @throws Error when it cannot be set
 */
export function prepareForLanceDb(): void {
  limitHeaps(HEAPS, LARGE);
  // It warns of every index whose parts are not all of one size, which is no one's concern.
  setNativeEnvironment("LANCEDB_LOG", "error");
  setNativeEnvironment("LANCE_DEFAULT_IO_BUFFER_SIZE", String(READ_AHEAD));
}

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
