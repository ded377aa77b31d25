import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { nearestFolder } from "./mounts.ts";

/** A folder by which other users decide what is found below it, and why: the end of a sentence. */
interface ForeignAncestor {
  readonly folder: string;
  readonly reason: string;
}

/**
 * Looks whether another user can put something else in the place of a folder, be it there or yet to
 * be made: each folder from it up to the root has to be this user's or root's and writable by nobody else, as
 * sshd has it for authorized_keys (auth_secure_path). Above it one with the sticky bit, such as /tmp,
 * will do: there nobody moves what is another user's. Symbolic links are followed first, so the path
 * that is used afterwards has to be the real one.
 */
export function findForeignAncestor(path: string): ForeignAncestor | null {
  const nearest = nearestFolder(path);
  const real = realpathSync(nearest);
  for (let folder = real; ; folder = dirname(folder)) {
    const reason = foreignness(folder, nearest === path && folder === real);
    if (reason !== null) return { folder, reason };
    if (folder === dirname(folder)) return null;
  }
}

/** Whether the mode of a file says who may read it: Windows has a list of rights, which is not read here. */
export const HAS_MODES = process.platform !== "win32";

/** Whether other users may read or write a file or folder, as far as its mode says. */
export function isOpenToOthers(path: string): boolean {
  return HAS_MODES && (statSync(path).mode & 0o077) !== 0;
}

function foreignness(folder: string, isLast: boolean): string | null {
  const { uid, gid, mode } = statSync(folder);
  const own = process.getuid?.();
  // Elsewhere than on Unix, this says nothing.
  if (own === undefined) return null;
  if (uid !== own && uid !== rootUser()) return `belongs to another user (${uid})`;
  if (!isLast && (mode & 0o1000) !== 0) return null;
  if ((mode & 0o002) !== 0) return "can be written by other users";
  if ((mode & 0o020) === 0 || hasOneMember(gid, own)) return null;
  return `can be written by other users (group ${gid})`;
}

/**
 * The user that root's files belong to: 0, or in a user namespace that has no root (a sandbox, say)
 * the one in whose place others are shown there. See user_namespaces(7).
 */
function rootUser(): number {
  const map = read("/proc/self/uid_map");
  const hasRoot = map === "" || /^\s*0\s/m.test(map);
  return hasRoot ? 0 : Number(read("/proc/sys/kernel/overflowuid") || 0);
}

/**
 * Whether a group is this user's alone, as many systems and container volumes have it. Only where all
 * groups are in local files: elsewhere its members are not known.
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
