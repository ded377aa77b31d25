import { chmodSync, mkdtempSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { NEW_SOCKET, reachSocketFolder, SOCKET } from "./socket-folder.ts";

/** What answers requests on a socket. */
type Answer = (request: Request) => Promise<Response>;

/** A socket that is listened on. */
type Listener = ReturnType<typeof serveAt>;

/**
 * Listens on the socket of a data folder, which nobody but its user can open. One that is there is
 * replaced: the caller holds the folder's lock.
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
 * Opens the socket in a folder of its own, which nobody else may enter, and moves it into place
 * when its mode is set: at no moment can another user open it.
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
 * Windows has Unix sockets too (since Windows 10 1803), for which Bun has no named pipes
 * (https://github.com/oven-sh/bun/issues/15350). Who may connect is decided by the rights of the file,
 * which it has from the data folder as soon as it is there: there is nothing to set.
 */
export function openInPlace(dataDir: string, answer: Answer): Listener {
  const path = join(dataDir, SOCKET);
  rmSync(path, { force: true });
  return serveAt(path, answer);
}

/** Bridges may be silent for hours. Bun's types have this setting for ports alone. */
const NEVER_IDLE: object = { idleTimeout: 0 };

function serveAt(path: string, fetch: Answer) {
  return Bun.serve({
    unix: path,
    fetch,
    ...NEVER_IDLE,
    // Messages have a limit of their own.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  });
}
