import { mkdtempSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Name of the socket in a data folder. */
export const SOCKET = "ctxd.sock";

/** Prefix of the folder in which a server creates its socket before it moves it into place. */
export const NEW_SOCKET = ".socket-";

/** Maximum bytes in the path of a Unix socket: 104 on macOS and 108 on Linux, with the terminating zero. */
const MAX_PATH = 103;

/**
 * A path to a data folder that is short enough for a socket in it. For a deep folder this is a symbolic
 * link in a new private folder, where nobody else can replace it.
 */
export function reachSocketFolder(dataDir: string): { path: string; release: () => void } {
  const longest = join(dataDir, `${NEW_SOCKET}XXXXXX`, SOCKET);
  if (Buffer.byteLength(longest) <= MAX_PATH) return { path: dataDir, release: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "ctxd-"));
  const path = join(folder, "data");
  // On Windows every user may create a junction. Other systems ignore this argument.
  symlinkSync(dataDir, path, "junction");
  return {
    path,
    release() {
      unlinkSync(path);
      rmdirSync(folder);
    },
  };
}
