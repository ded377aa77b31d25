import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../db/sqlite.ts";
import { findForeignAncestor, HAS_MODES, isOpenToOthers } from "../system/foreign-ancestor.ts";
import { mountOptionsOf, nearestFolder } from "../system/mounts.ts";
import { type Finding, findingsOf, formatBytes, reasonOf } from "./finding.ts";

/** Bytes below which a disk is too full to work with, and nearly so. */
const TOO_FULL = 64e6;
const NEARLY_FULL = 512e6;

/**
 * Whether a data folder is there, is this user's alone, and can be written.
 * @param howToStart the command that starts a server; null where it has copies alone of what servers share
 */
export function checkDataFolder(dataDir: string, howToStart: string | null): Finding {
  const { ok, warning, problem } = findingsOf("data folder");
  const refused = refusalOf(dataDir);
  if (refused) {
    return problem(`${dataDir} ${refused}: mend that, or choose another with --data-dir.`);
  }
  if (howToStart === null && !existsSync(dataDir)) return ok(`${dataDir} is not there yet`);
  if (howToStart !== null && !existsSync(databasePath(dataDir))) {
    return ok(`nothing has been set up in ${dataDir} yet: ${howToStart} starts a server there.`);
  }
  const { mode, uid } = statSync(dataDir);
  const own = process.getuid?.() ?? uid;
  if (uid !== own) {
    return warning(`${dataDir} belongs to another user (${uid}): run ctxd as that one.`);
  }
  const kept = howToStart === null ? [dataDir] : [dataDir, databasePath(dataDir)];
  const open = kept.find(isOpenToOthers);
  if (open) {
    return warning(`${open} is open to other users: chmod go= ${open} closes it.`);
  }
  const foreign = findForeignAncestor(dataDir);
  if (foreign) {
    return warning(
      `${foreign.folder} ${foreign.reason}, who can put another folder in the place of ${dataDir}: close it, or choose a folder elsewhere with --data-dir.`,
    );
  }
  return ok(`${dataDir} (${HAS_MODES ? `mode ${(mode & 0o777).toString(8)}, ` : ""}writable)`);
}

/** Whether there is room left on the disk of a data folder. */
export function checkDisk(dataDir: string): Finding {
  const { ok, warning, problem } = findingsOf("disk");
  const { bavail, bsize } = statfsSync(nearestFolder(dataDir));
  const free = bavail * bsize;
  const text = `${formatBytes(free)} free for ${dataDir}`;
  if (free < TOO_FULL) return problem(`${text}: writes will be refused, free some space.`);
  // Forgetting writes a table anew before the old one goes.
  if (free < NEARLY_FULL) return warning(`${text}: free some space soon.`);
  return ok(text);
}

/** Whether libraries and the model can be unpacked into the cache folder, and run from it. */
export function checkCacheFolder(cacheDir: string, isCompiled: boolean): Finding {
  const { ok, warning, problem } = findingsOf("cache folder");
  const remedy = "set CTXD_CACHE_DIR to another folder";
  const refused = refusalOf(cacheDir);
  if (refused) return problem(`${cacheDir} ${refused}: ${remedy}.`);
  // What is unpacked gets a folder of its own in it.
  const foreign = findForeignAncestor(join(cacheDir, "unpacked"));
  if (foreign) {
    const text = `${foreign.folder} ${foreign.reason}, who would decide what runs here`;
    return problem(`${text}: set CTXD_CACHE_DIR to one that only you and root can replace.`);
  }
  if (mountOptionsOf(cacheDir)?.isNoExec) {
    const text = `${cacheDir} is mounted noexec`;
    return isCompiled
      ? problem(`${text}, and native libraries are loaded from it: ${remedy}.`)
      : warning(
          `${text}: from a checkout nothing is run from it, the executable needs it: ${remedy}.`,
        );
  }
  return ok(`${cacheDir}${existsSync(cacheDir) ? "" : " (made by the first start)"}`);
}

/** Why a folder can't be used or made, or `null`. */
function refusalOf(path: string): string | null {
  try {
    const folder = nearestFolder(path);
    if (!statSync(folder).isDirectory()) return `is no folder: ${folder} is a file`;
    if (mountOptionsOf(folder)?.isReadOnly) return "is on a read-only file system";
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    const isDenied = error instanceof Error && "code" in error && error.code === "EACCES";
    return isDenied ? "can't be written by this user" : `can't be used (${reasonOf(error)})`;
  }
}
