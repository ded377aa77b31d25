import { homedir } from "node:os";
import { posix, win32 } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that decide where a person's folders are. */
export const FOLDER_VARIABLES = ["HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA"] as const;

/**
 * A person's home folder; null when there is none, as for a user without an entry in the system's list.
 * On Windows a `HOME` that some shells set counts for nothing: other programs don't read it.
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
 * Where everything is kept that must be, unless a setting says otherwise: by the XDG base directory
 * specification, on macOS too; on Windows in the folder for data of programs that stays on the
 * machine, which is its person's alone. Null when there is no home folder.
 */
export function dataFolder(env: Environment, platform: string = process.platform): string | null {
  if (platform === "win32") return ofWindows(env);
  return ofXdg(env, env.XDG_DATA_HOME, ".local", "share");
}

/** Where what can be made again is kept. Null when there is no home folder. */
export function cacheFolder(env: Environment, platform: string = process.platform): string | null {
  if (platform !== "win32") return ofXdg(env, env.XDG_CACHE_HOME, ".cache");
  const folder = ofWindows(env);
  return folder === null ? null : win32.join(folder, "cache");
}

/** Where Windows has settings of programs that follow a person from machine to machine: `FOLDERID_RoamingAppData`. */
export function roamingFolder(env: Environment, home: string): string {
  return env.APPDATA ?? win32.join(home, "AppData", "Roaming");
}

/** A relative folder in a variable must be ignored, says the specification. */
function ofXdg(env: Environment, named: string | undefined, ...inHome: string[]): string | null {
  if (named && posix.isAbsolute(named)) return posix.join(named, "ctxd");
  const home = homeFolder(env, "linux");
  return home === null ? null : posix.join(home, ...inHome, "ctxd");
}

/** `FOLDERID_LocalAppData`, by the variable that Windows sets for it. */
function ofWindows(env: Environment): string | null {
  const named = env.LOCALAPPDATA;
  if (named && win32.isAbsolute(named)) return win32.join(named, "ctxd");
  const home = homeFolder(env, "win32");
  return home === null ? null : win32.join(home, "AppData", "Local", "ctxd");
}
