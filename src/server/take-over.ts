import { type DataLock, lockDataFolder, readOwner } from "../db/data-lock.ts";
import { requestStop } from "../mcp/stop-request.ts";

/** Milliseconds between two tries to get a folder, and those after which none is made. */
const INTERVAL = 20;
const PATIENCE = 60_000;

/**
 * Makes this process the one that serves a data folder, for a person who wants that. A server that
 * bridges started ends for it; they find this one by themselves, with the calls under way.
 * @throws DatabaseError that names the process that has the folder
 */
export async function takeOverDataFolder(dataDir: string, version: string): Promise<DataLock> {
  for (const end = performance.now() + PATIENCE; ; await Bun.sleep(INTERVAL)) {
    try {
      return lockDataFolder(dataDir, version);
    } catch (error) {
      if (!readOwner(dataDir)?.isBackground || performance.now() > end) throw error;
    }
    await requestStop(dataDir);
  }
}
