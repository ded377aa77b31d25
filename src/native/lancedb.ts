import { join } from "node:path";
import { limitHeaps, setNativeEnvironment } from "../system/c-library.ts";
import { openAddon } from "./addons.ts";
import { prepareAsset } from "./asset.ts";
import { embeddedAsset } from "./embedded-asset.ts";

/** The library's own types: what `loadLanceDb` gives is the whole module. */
export type LanceDb = typeof import("@lancedb/lancedb");

const HEAPS = 2;
/** Bytes that a scan of a table reads ahead; 2 GiB unless told. */
const READ_AHEAD = 32 << 20;

/**
 * Sets what LanceDB's threads go by. To be called from the main thread before there are others.
 * @throws Error when it cannot be set
 */
export function prepareForLanceDb(): void {
  limitHeaps(HEAPS);
  // It warns of every index whose parts are not all of one size, which is no one's concern.
  setNativeEnvironment("LANCEDB_LOG", "error");
  setNativeEnvironment("LANCE_DEFAULT_IO_BUFFER_SIZE", String(READ_AHEAD));
  // Vectors are brought into the order of an index in a file for each of its parts, which takes 150 MB
  // for 100,000 memories. In two files, as it is done otherwise, it takes 400.
  setNativeEnvironment("LANCE_LEGACY_SHUFFLER", "1");
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
