import { mkdirSync, mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A root folder with all that this machine has, in which whatever is changed is changed in memory alone.
 * Null where it can't be made: it needs root and overlayfs.
 */
export function overlaidRoot(): ({ path: string } & Disposable) | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), "ctxd-overlay-"));
  if (!run("mount", "-t", "tmpfs", "tmpfs", folder)) return null;
  const [path, upper, work] = ["root", "upper", "work"].map((name) => join(folder, name));
  for (const each of [path, upper, work]) mkdirSync(`${each}`);
  const options = `lowerdir=/,upperdir=${upper},workdir=${work}`;
  const isMounted = run("mount", "-t", "overlay", "overlay", "-o", options, `${path}`);
  const proc = join(`${path}`, "proc");
  if (isMounted) run("mount", "-t", "proc", "proc", proc);
  const dispose = () => {
    if (isMounted) run("umount", proc) && run("umount", `${path}`);
    run("umount", folder);
    rmdirSync(folder);
  };
  if (isMounted) return { path: `${path}`, [Symbol.dispose]: dispose };
  dispose();
  return null;
}

function run(...command: string[]): boolean {
  return Bun.spawnSync(command, { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
}
