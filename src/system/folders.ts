import { mkdtempSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, posix, win32 } from "node:path";

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Environment variables that determine a person's folders. */
export const FOLDER_VARIABLES = ["HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA"] as const;

/**
 * A person's home folder; null when there is none, for example for a user without an entry in /etc/passwd.
 * On Windows `HOME` is ignored: only some shells set it, and other programs don't read it.
 */
export function homeFolder(
  env: Environment,
  platform: string = process.platform,
  ofSystem: () => string = homedir,
): string | null {
  const named = platform === "win32" ? env.USERPROFILE : env.HOME;
  try {
    return named || ofSystem();
  } catch {
    return null;
  }
}

/**
 * The default data folder: by the XDG base directory specification, on macOS too, and on Windows in the
 * private folder for program data that stays on the machine. Null without a home folder.
 */
export function dataFolder(env: Environment, platform: string = process.platform): string | null {
  if (platform === "win32") return ofWindows(env);
  return ofXdg(env, env.XDG_DATA_HOME, ".local", "share");
}

/** The default folder for files that can be recreated. Null without a home folder. */
export function cacheFolder(env: Environment, platform: string = process.platform): string | null {
  if (platform !== "win32") return ofXdg(env, env.XDG_CACHE_HOME, ".cache");
  const folder = ofWindows(env);
  return folder === null ? null : win32.join(folder, "cache");
}

/** The folder for what this machine knows and can do without. Null without a home folder. */
export function stateFolder(env: Environment, platform: string = process.platform): string | null {
  if (platform !== "win32") return ofXdg(env, env.XDG_STATE_HOME, ".local", "state");
  const home = homeFolder(env, platform);
  return home === null ? null : win32.join(roamingFolder(env, home), "ctxd");
}

/** The folder of Windows for settings that follow a person from machine to machine: `FOLDERID_RoamingAppData`. */
export function roamingFolder(env: Environment, home: string): string {
  return env.APPDATA ?? win32.join(home, "AppData", "Roaming");
}

/** The specification says that a relative path in a variable must be ignored. */
function ofXdg(env: Environment, named: string | undefined, ...inHome: string[]): string | null {
  if (named && posix.isAbsolute(named)) return posix.join(named, "ctxd");
  const home = homeFolder(env, "linux");
  return home === null ? null : posix.join(home, ...inHome, "ctxd");
}

/** `FOLDERID_LocalAppData`, read from the variable that Windows sets for it. */
function ofWindows(env: Environment): string | null {
  const named = env.LOCALAPPDATA;
  if (named && win32.isAbsolute(named)) return win32.join(named, "ctxd");
  const home = homeFolder(env, "win32");
  return home === null ? null : win32.join(home, "AppData", "Local", "ctxd");
}

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
