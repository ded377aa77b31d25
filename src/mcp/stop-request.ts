import { join } from "node:path";
import { reachSocketFolder, SOCKET } from "../system/socket-folder.ts";

/** Where a server in the background is asked to end, on the local socket alone. */
export const STOP_REQUEST_PATH = "/hand-over";

/** Milliseconds that a server may take to hear it. */
const TIMEOUT = 1_000;

/** Asks the server of a data folder to make way; one in the background does. Never rejects. */
export async function requestStop(dataDir: string): Promise<void> {
  const reach = reachSocketFolder(dataDir);
  try {
    await fetch(`http://localhost${STOP_REQUEST_PATH}`, {
      method: "POST",
      unix: join(reach.path, SOCKET),
      signal: AbortSignal.timeout(TIMEOUT),
    });
  } catch {
    // It has no socket yet, or none any more.
  } finally {
    reach.release();
  }
}
