import { copyFileSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What a program loads by its name, beside what `ldd` tells of it. */
const LOADED = ["libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1"];

/**
 * A root folder with nothing but some programs and the libraries that these need, as a small container
 * has it. No root is needed: Bubblewrap runs what is in it, with the network of this machine.
 */
export function emptyRoot() {
  const path = mkdtempSync(join(tmpdir(), "ctxd-empty-root-"));
  for (const name of ["etc", "root", "proc", "dev", "tmp"]) mkdirSync(join(path, name));
  const add = (file: string, at = file) => {
    mkdirSync(join(path, dirname(at)), { recursive: true });
    copyFileSync(realpathSync(file), join(path, at));
  };
  return {
    path,
    /** Copies a program, with the libraries that it names. */
    addProgram(file: string, at = file) {
      add(file, at);
      const named = Bun.spawnSync(["ldd", file]).stdout.toString();
      for (const [library] of named.matchAll(/\/\S+/g)) add(library);
    },
    /** Copies the C library, as a program finds it that is not there yet. */
    addLibc(like: string) {
      const named = Bun.spawnSync(["ldd", like]).stdout.toString();
      const libc = /\/\S+\/libc\.so\.6/.exec(named)?.[0] ?? "";
      for (const [library] of named.matchAll(/\/\S*ld-linux\S*/g)) add(library);
      for (const library of LOADED) add(join(dirname(libc), library));
      add(libc);
    },
    addFolder: (folder: string, at: string) =>
      cpSync(folder, join(path, at), { recursive: true, dereference: true }),
    /** The words that run a command in it, with these variables alone. */
    inside: (command: readonly string[], env: Record<string, string> = {}) => [
      ...["bwrap", "--bind", path, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
      ...["--unshare-pid", "--die-with-parent", "--clearenv"],
      ...Object.entries({ HOME: "/root", PATH: "/usr/bin:/bin", ...env }).flatMap(
        ([name, value]) => ["--setenv", name, value],
      ),
      ...command,
    ],
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
