import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What the executable and the libraries inside it take from the system, all of glibc but libgcc_s. */
const LIBRARIES = [
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
 */
export function bareRoot(executable: string): { path: string } & Disposable {
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
  copyFileSync(executable, join(path, "ctxd"));
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
