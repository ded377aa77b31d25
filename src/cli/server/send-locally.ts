import { join } from "node:path";
import { createSend, type Send } from "../../doctor/send.ts";
import { reachSocketFolder, SOCKET } from "../../system/folders.ts";

/** Milliseconds after which a server that does not answer counts as failed. */
const TIMEOUT_MS = 5_000;

/** Sends requests to the server of a data folder over its socket, which needs no open port. */
export function sendLocally(dataDir: string): Send {
  return async (path, parts) => {
    const reach = reachSocketFolder(dataDir);
    try {
      const socketPath = join(reach.path, SOCKET);
      return await createSend("http://localhost", { timeout: TIMEOUT_MS, socketPath })(path, parts);
    } finally {
      reach.release();
    }
  };
}
