import { availableParallelism } from "node:os";
import { join } from "node:path";
import { limitHeaps, setNativeEnvironment } from "../system/c-library.ts";
import { openAddon } from "./addons.ts";
import { prepareAsset } from "./asset.ts";
import { embeddedAsset } from "./embedded-asset.ts";

/** The whole module that `loadLanceDb` returns. */
export type LanceDb = typeof import("@lancedb/lancedb");

const HEAPS = 2;
/** The fewest threads with which LanceDB can write an index of words, and cores that it leaves to its other threads. */
const LEAST_THREADS = 2;
const OTHER_CORES = 2;
/** Bytes that a scan reads ahead. LanceDB's default is 2 GiB. */
const READ_AHEAD = 32 << 20;

/**
 * Sets the environment variables of LanceDB's threads. Call this from the main thread, before other
 * threads start.
 * @throws Error when a variable cannot be set
 */
export function prepareForLanceDb(): void {
  limitHeaps(HEAPS);
  // LanceDB warns of every index with parts of different sizes, which is harmless.
  setNativeEnvironment("LANCEDB_LOG", "error");
  setNativeEnvironment("LANCE_DEFAULT_IO_BUFFER_SIZE", String(READ_AHEAD));
  // Sorts the vectors of an index in one file for each partition: 150 MB for 100,000 memories. The default
  // sorts them in two files and takes 400 MB.
  setNativeEnvironment("LANCE_LEGACY_SHUFFLER", "1");
  // A part of an index of words keeps one of these threads while it waits for a writer, which needs one too. With
  // LanceDB's own numbers, one thread on up to three cores and as many parts as threads, both may wait for ever.
  const threads = Math.max(LEAST_THREADS, availableParallelism() - OTHER_CORES);
  setNativeEnvironment("LANCE_CPU_THREADS", String(threads));
  setNativeEnvironment("LANCE_FTS_NUM_SHARDS", String(threads - 1));
}

/**
 * Loads LanceDB. The executable first unpacks its native library into the cache folder, unless it is
 * already there. A checkout has it in node_modules.
 * @throws AssetError when the library cannot be unpacked or loaded
 */
export async function loadLanceDb(cacheDir: string): Promise<LanceDb> {
  const asset = embeddedAsset("lancedb");
  if (asset) openAddon("lancedb", join(await prepareAsset(asset, cacheDir), "lancedb.node"));
  return await import("@lancedb/lancedb");
}
