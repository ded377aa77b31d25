import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { nearestFolder } from "./mounts.ts";

/**
 * Finds a folder through which another user could replace `path`, which need not exist yet. Each folder
 * from it up to the root must belong to this user or root, and nobody else may write to it, as sshd
 * requires for authorized_keys (auth_secure_path). Folders above `path` may have the sticky bit, like /tmp,
 * where users can't move each other's files. Symbolic links are followed first, so the caller must
 * use the real path afterwards.
 * @returns the folder, and the end of a sentence with the reason
 */
export function findForeignAncestor(path: string): { folder: string; reason: string } | null {
  const nearest = nearestFolder(path);
  const real = realpathSync(nearest);
  for (let folder = real; ; folder = dirname(folder)) {
    const reason = foreignness(folder, nearest === path && folder === real);
    if (reason !== null) return { folder, reason };
    if (folder === dirname(folder)) return null;
  }
}

/** Whether a file's mode says who may read it. Windows uses access control lists, which this does not read. */
export const HAS_MODES = process.platform !== "win32";

/** Whether other users may read or write a file or folder, as far as its mode says. */
export function isOpenToOthers(path: string): boolean {
  return HAS_MODES && (statSync(path).mode & 0o077) !== 0;
}

function foreignness(folder: string, isLast: boolean): string | null {
  const { uid, gid, mode } = statSync(folder);
  const own = process.getuid?.();
  // Systems other than Unix have no user ids.
  if (own === undefined) return null;
  if (!isOwn(uid)) return `belongs to another user (${uid})`;
  if (!isLast && (mode & 0o1000) !== 0) return null;
  if ((mode & 0o002) !== 0) return "can be written by other users";
  if ((mode & 0o020) === 0 || hasOneMember(gid, own)) return null;
  return `can be written by other users (group ${gid})`;
}

/** Whether the owner of a file is this user or root. Systems other than Unix have no user ids. */
export function isOwn(uid: number): boolean {
  const own = process.getuid?.();
  return own === undefined || uid === own || uid === rootUser();
}

/**
 * The user id that root's files have: 0, or in a user namespace without root, such as a sandbox, the
 * overflow user id. See user_namespaces(7).
 */
function rootUser(): number {
  const map = read("/proc/self/uid_map");
  const hasRoot = map === "" || /^ *0 /m.test(map);
  return hasRoot ? 0 : Number(read("/proc/sys/kernel/overflowuid") || 0);
}

/**
 * Whether this user is the only member of a group, as on many systems and container volumes. False unless
 * all groups are in local files, because other sources don't list the members here.
 */
function hasOneMember(gid: number, own: number): boolean {
  const sources = /^group:(.*)$/m.exec(read("/etc/nsswitch.conf"))?.[1]?.trim().split(/\s+/);
  if (!sources?.every((source) => /^(files|compat|systemd)$/.test(source))) return false;
  const users = rowsOf("/etc/passwd").map(([name, , uid, primary]) => ({
    name,
    isOwn: Number(uid) === own,
    isMember: Number(primary) === gid,
  }));
  const listed = rowsOf("/etc/group")
    .filter(([, , id]) => Number(id) === gid)
    .flatMap(([, , , names = ""]) => names.split(",").filter((name) => name !== ""));
  return users
    .filter(({ name, isMember }) => isMember || listed.includes(name ?? ""))
    .every(({ isOwn }) => isOwn);
}

function rowsOf(path: string): string[][] {
  return read(path)
    .split("\n")
    .map((line) => line.split(":"));
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
