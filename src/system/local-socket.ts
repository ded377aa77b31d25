import { chmodSync, mkdtempSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { NEW_SOCKET, reachSocketFolder, SOCKET } from "./folders.ts";

/**
 * Sends a request to the socket of a data folder. The temporary link that a long path needs exists only
 * while the request is sent: systems delete old files from the folder of temporary files, and another user
 * could then create a link with the same name.
 */
export async function fetchOnSocket(
  dataDir: string,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const reach = reachSocketFolder(dataDir);
  try {
    return await fetch(`http://localhost${path}`, { ...init, unix: join(reach.path, SOCKET) });
  } finally {
    reach.release();
  }
}

type Answer = (request: Request) => Promise<Response>;

type Listener = ReturnType<typeof serveAt>;

/**
 * Listens on the socket of a data folder, which only the folder's user can open. An existing socket is
 * replaced, because the caller holds the folder's lock.
 */
export function listenOnSocket(dataDir: string, answer: Answer): Listener {
  const reach = reachSocketFolder(dataDir);
  try {
    return process.platform === "win32"
      ? openInPlace(reach.path, answer)
      : openAside(reach.path, answer);
  } finally {
    reach.release();
  }
}

/**
 * Creates the socket in a private folder, and moves it into place after its mode is set. Another user
 * can't open it at any moment.
 */
function openAside(dataDir: string, answer: Answer): Listener {
  const folder = mkdtempSync(join(dataDir, NEW_SOCKET));
  const path = join(folder, SOCKET);
  try {
    const server = serveAt(path, answer);
    chmodSync(path, 0o600);
    renameSync(path, join(dataDir, SOCKET));
    return server;
  } finally {
    rmSync(path, { force: true });
    rmdirSync(folder);
  }
}

/**
 * Creates the socket directly in the data folder, for Windows. Windows has Unix sockets since Windows 10
 * 1803; Bun has no named pipes for this (https://github.com/oven-sh/bun/issues/15350). The socket inherits
 * the rights of the data folder when it is created, so no mode needs to be set.
 */
export function openInPlace(dataDir: string, answer: Answer): Listener {
  const path = join(dataDir, SOCKET);
  rmSync(path, { force: true });
  return serveAt(path, answer);
}

/** Bridges may be silent for hours. Bun's types allow this setting only for ports. */
const NEVER_IDLE: object = { idleTimeout: 0 };

function serveAt(path: string, fetch: Answer) {
  return Bun.serve({
    unix: path,
    fetch,
    ...NEVER_IDLE,
    // The MCP endpoint limits the size of messages.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  });
}
