import { join } from "node:path";
import { reachSocketFolder, SOCKET } from "../system/folders.ts";

/** Path that asks a background server to stop. It exists on the local socket only. */
export const STOP_REQUEST_PATH = "/hand-over";

/** Milliseconds to wait for the response. */
const TIMEOUT_MS = 1_000;

/**
 * Asks the server of a data folder to stop, so that this process can take the folder over. Only a
 * server in the background does so. Never rejects.
 */
export async function requestStop(dataDir: string): Promise<void> {
  const reach = reachSocketFolder(dataDir);
  try {
    await fetch(`http://localhost${STOP_REQUEST_PATH}`, {
      method: "POST",
      unix: join(reach.path, SOCKET),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    // The server is still starting, or it has already closed its socket.
  } finally {
    reach.release();
  }
}
