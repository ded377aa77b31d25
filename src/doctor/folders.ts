import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../db/data-lock.ts";
import { errorCode } from "../errors.ts";
import { findForeignAncestor, HAS_MODES, isOpenToOthers } from "../system/foreign-ancestor.ts";
import { mountOptionsOf, nearestFolder } from "../system/mounts.ts";
import { type Finding, findingsOf, formatBytes, reasonOf } from "./finding.ts";

/** Free bytes below which a disk is a problem, or needs a warning. */
const MIN_FREE = 64e6;
const LOW_FREE = 512e6;

/**
 * Checks that a data folder exists, is writable, and is accessible to this user only.
 * @param howToStart the command that starts a server; null for a replica's folder, which has only copies
 */
export function checkDataFolder(dataDir: string, howToStart: string | null): Finding {
  const { ok, warning, problem } = findingsOf("data folder");
  const refused = refusalOf(dataDir);
  if (refused) {
    return problem(`${dataDir} ${refused}: fix that, or choose another with --data-dir.`);
  }
  if (howToStart === null && !existsSync(dataDir)) return ok(`${dataDir} does not exist yet`);
  if (howToStart !== null && !existsSync(databasePath(dataDir))) {
    return ok(`${dataDir} has no data yet: ${howToStart} starts a server with it.`);
  }
  const { mode, uid } = statSync(dataDir);
  const own = process.getuid?.() ?? uid;
  if (uid !== own) {
    return warning(`${dataDir} belongs to another user (${uid}): run ctxd as that user.`);
  }
  const paths = howToStart === null ? [dataDir] : [dataDir, databasePath(dataDir)];
  const open = paths.find(isOpenToOthers);
  if (open) {
    return warning(`${open} is open to other users: chmod go= ${open} closes it.`);
  }
  const foreign = findForeignAncestor(dataDir);
  if (foreign) {
    return warning(
      `${foreign.folder} ${foreign.reason}, who can replace ${dataDir}: restrict its mode, or choose another folder with --data-dir.`,
    );
  }
  return ok(`${dataDir} (${HAS_MODES ? `mode ${(mode & 0o777).toString(8)}, ` : ""}writable)`);
}

/** Checks the free space on the disk of a data folder. */
export function checkDisk(dataDir: string): Finding {
  const { ok, warning, problem } = findingsOf("disk");
  const { bavail, bsize } = statfsSync(nearestFolder(dataDir));
  const free = bavail * bsize;
  const text = `${formatBytes(free)} free for ${dataDir}`;
  if (free < MIN_FREE) return problem(`${text}: writes will be refused, free some space.`);
  // Purging deleted memories rewrites a table before the old one is removed.
  if (free < LOW_FREE) return warning(`${text}: free some space soon.`);
  return ok(text);
}

/** Checks that libraries and the model can be unpacked to the cache folder and loaded from it. */
export function checkCacheFolder(cacheDir: string, isCompiled: boolean): Finding {
  const { ok, warning, problem } = findingsOf("cache folder");
  const remedy = "set CTXD_CACHE_DIR to another folder";
  const refused = refusalOf(cacheDir);
  if (refused) return problem(`${cacheDir} ${refused}: ${remedy}.`);
  // Checks a subfolder, because each asset is unpacked to one.
  const foreign = findForeignAncestor(join(cacheDir, "unpacked"));
  if (foreign) {
    const text = `${foreign.folder} ${foreign.reason}, who would decide what runs here`;
    return problem(`${text}: set CTXD_CACHE_DIR to one that only you and root can replace.`);
  }
  if (mountOptionsOf(cacheDir)?.isNoExec) {
    const text = `${cacheDir} is mounted noexec`;
    return isCompiled
      ? problem(`${text}, and native libraries are loaded from it: ${remedy}.`)
      : warning(`${text}: a checkout loads nothing from it, but the executable does: ${remedy}.`);
  }
  return ok(`${cacheDir}${existsSync(cacheDir) ? "" : " (created by the first start)"}`);
}

/** Why a folder can't be used or created; `null` when it can. */
function refusalOf(path: string): string | null {
  try {
    const folder = nearestFolder(path);
    if (!statSync(folder).isDirectory()) return `is not a folder: ${folder} is a file`;
    if (mountOptionsOf(folder)?.isReadOnly) return "is on a read-only file system";
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    const isDenied = errorCode(error) === "EACCES";
    return isDenied ? "can't be written by this user" : `can't be used (${reasonOf(error)})`;
  }
}
