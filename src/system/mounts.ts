import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";

/** The folder itself, or the nearest one above it that exists. */
export function nearestFolder(path: string): string {
  let folder = path;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/**
 * The mount options of the file system that contains a path, which need not exist yet.
 * @returns `null` on systems without Linux's /proc
 */
export function mountOptionsOf(path: string) {
  const list = readMounts();
  if (list === null) return null;
  const real = realpathSync(nearestFolder(path));
  let found: { point: string; options: string[] } | null = null;
  // A later mount on the same point hides the earlier one.
  for (const mount of list) {
    const isAbove = real === mount.point || real.startsWith(mount.point.replace(/\/?$/, "/"));
    if (isAbove && mount.point.length >= (found?.point.length ?? 0)) found = mount;
  }
  const options = found?.options ?? [];
  return { isReadOnly: options.includes("ro"), isNoExec: options.includes("noexec") };
}

/** Reads /proc/self/mountinfo: the fifth field is the mount point, the sixth its options (proc_pid_mountinfo(5)). */
function readMounts(): { point: string; options: string[] }[] | null {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => {
        const [, , , , point = "", options = ""] = line.split(" ");
        return { point: decodeOctal(point), options: options.split(",") };
      });
  } catch {
    return null;
  }
}

/** The file contains spaces and similar characters as octal numbers. */
function decodeOctal(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 8)),
  );
}
