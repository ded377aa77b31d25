import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What the executable and the libraries inside it take from the system, all of glibc but libgcc_s. */
export const LIBRARIES = [
  "libc.so.6",
  "libm.so.6",
  "libdl.so.2",
  "libpthread.so.0",
  "librt.so.1",
  "libgcc_s.so.1",
];

/**
 * A root folder with nothing but an executable, the C library, /proc, which Bun itself needs, and
 * a /tmp that everyone may write to. Needs root.
 * @param at where the executable is in it
 */
export function bareRoot(executable: string, at = "ctxd"): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "ctxd-root-"));
  chmodSync(path, 0o755);
  const linked = Bun.spawnSync(["ldd", executable]).stdout.toString();
  const loader = /^\s*(\/\S+ld-linux\S+)/m.exec(linked)?.[1];
  const folder = /=> (\S+)\/libc\.so\.6/.exec(linked)?.[1];
  if (!loader || !folder) throw new Error(`ldd says nothing of the C library: ${linked}`);
  for (const file of [loader, ...LIBRARIES.map((name) => join(folder, name))]) {
    mkdirSync(join(path, dirname(file)), { recursive: true });
    copyFileSync(realpathSync(file), join(path, file));
    chmodSync(join(path, file), 0o755);
  }
  mkdirSync(dirname(join(path, at)), { recursive: true });
  copyFileSync(executable, join(path, at));
  mkdirSync(join(path, "tmp"));
  chmodSync(join(path, "tmp"), 0o1777);
  mkdirSync(join(path, "proc"));
  run("mount", "-t", "proc", "proc", join(path, "proc"));
  return {
    path,
    [Symbol.dispose]() {
      run("umount", join(path, "proc"));
      rmSync(path, { recursive: true, force: true });
    },
  };
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}

/**
 * The same as a container with a read-only root has it: nothing but the folder `data`, a volume, can
 * be written, and its owner is given. Needs root.
 */
export function readOnlyRoot(
  executable: string,
  { at, data, owner }: { at: string; data: string; owner: number },
): { path: string; data: string } & Disposable {
  const root = bareRoot(executable, at);
  const volume = mkdtempSync(join(tmpdir(), "ctxd-volume-"));
  chownSync(volume, owner, owner);
  rmSync(join(root.path, "tmp"), { recursive: true });
  mkdirSync(join(root.path, data));
  const mounted = [root.path, join(root.path, "proc"), join(root.path, data)];
  run("mount", "--rbind", root.path, root.path);
  run("mount", "--bind", volume, join(root.path, data));
  run("mount", "-o", "remount,bind,ro", root.path);
  return {
    path: root.path,
    data: volume,
    [Symbol.dispose]() {
      for (const place of mounted.reverse()) run("umount", place);
      root[Symbol.dispose]();
      rmSync(volume, { recursive: true, force: true });
    },
  };
}
