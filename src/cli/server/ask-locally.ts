import { join } from "node:path";
import { type Ask, createAsk } from "../../doctor/ask.ts";
import { reachSocketFolder, SOCKET } from "../../system/folders.ts";

/** Milliseconds after which a server that does not answer counts as failed. */
const TIMEOUT_MS = 5_000;

/** Sends questions to the server of a data folder over its socket, which needs no open port. */
export function askLocally(dataDir: string): Ask {
  return async (path, question) => {
    const reach = reachSocketFolder(dataDir);
    try {
      const socketPath = join(reach.path, SOCKET);
      return await createAsk("http://localhost", { timeout: TIMEOUT_MS, socketPath })(
        path,
        question,
      );
    } finally {
      reach.release();
    }
  };
}
