import { type DataLock, lockDataFolder, readOwner } from "../db/data-lock.ts";
import { requestStop } from "../local/stop-request.ts";

/** Milliseconds between two attempts to lock the folder, and after which it gives up. */
const RETRY_AFTER_MS = 20;
const TIMEOUT_MS = 60_000;

/**
 * Locks a data folder for a server that a user starts. It asks a server in the background to stop; bridges
 * then connect to this server and repeat the calls that were not answered.
 * @throws DatabaseError that names the process which holds the folder
 */
export async function takeOverDataFolder(dataDir: string, version: string): Promise<DataLock> {
  for (const end = performance.now() + TIMEOUT_MS; ; await Bun.sleep(RETRY_AFTER_MS)) {
    try {
      return lockDataFolder(dataDir, version);
    } catch (error) {
      if (!readOwner(dataDir)?.isBackground || performance.now() > end) throw error;
    }
    await requestStop(dataDir);
  }
}
