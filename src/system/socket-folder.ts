import { mkdtempSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Name of the socket in a data folder. */
export const SOCKET = "ctxd.sock";

/** Where a server makes its socket before it puts it in place. */
export const NEW_SOCKET = ".socket-";

/** Bytes that the path of a Unix socket may have: 104 on macOS and 108 on Linux, its end included. */
const MAX_PATH = 103;

/**
 * A path to a data folder that is short enough for a socket in it. A deep folder gets a symbolic
 * link to it in a new folder of this process's own, where nobody else can put another one.
 */
export function reachSocketFolder(dataDir: string): { path: string; release: () => void } {
  const longest = join(dataDir, `${NEW_SOCKET}XXXXXX`, SOCKET);
  if (Buffer.byteLength(longest) <= MAX_PATH) return { path: dataDir, release: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "ctxd-"));
  const path = join(folder, "data");
  // On Windows a junction, which anybody may make; elsewhere this word counts for nothing.
  symlinkSync(dataDir, path, "junction");
  return {
    path,
    release() {
      unlinkSync(path);
      rmdirSync(folder);
    },
  };
}
