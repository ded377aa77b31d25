import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LIBRARIES } from "./bare-root.ts";

/** What Debian's packages qemu-user-static, libc6-arm64-cross and libgcc-s1-arm64-cross install. */
const QEMU = "/usr/bin/qemu-aarch64-static";
const SYSTEM = "/usr/aarch64-linux-gnu";
const CACHE = join(import.meta.dir, "..", "..", "node_modules", ".cache", "ctxd-test");

const NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"];

/** Why programs for 64-bit ARM can't run here; null where they can. */
export const arm64Missing: string | null = whyMissing();

function whyMissing(): string | null {
  if (process.platform !== "linux") return "the emulator is for Linux";
  for (const path of [QEMU, `${SYSTEM}/lib/libc.so.6`]) {
    if (!existsSync(path)) return `${path} is not there`;
  }
  const mount = "mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc";
  const { exitCode, stderr } = Bun.spawnSync([...NAMESPACE, "sh", "-ec", mount]);
  return exitCode === 0 ? null : `no own table of program formats: ${stderr}`;
}

/** A program for 64-bit ARM, by the first bytes of its file: what Debian's qemu-user-static registers. */
const FORMAT = [
  "",
  "arm64",
  "M",
  "",
  String.raw`\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00`,
  String.raw`\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff`,
  QEMU,
  "FP",
].join(":");

/**
 * Of the processors that QEMU 7.2 emulates, this one has no SVE, in which its vectors come out wrong. ONNX
 * Runtime reads the file to learn of the processor, and that of another kind crashes it.
 */
const MODEL = "neoverse-n1";
const PROCESSOR = [
  "processor\t: 0",
  "BogoMIPS\t: 50.00",
  "Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm",
  "CPU implementer\t: 0x41",
  "CPU architecture: 8",
  "CPU variant\t: 0x3",
  "CPU part\t: 0xd0c",
  "CPU revision\t: 1",
  "",
].join("\n");

/**
 * The table of formats and the processor are those of one namespace, so nothing changes for the rest of the
 * machine. The process that is started becomes the program: signals reach it.
 */
const ENTER = `
  format=$1 processor=$2 root=$3
  shift 3
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
  printf %s "$format" > /proc/sys/fs/binfmt_misc/register
  mount --bind "$processor" /proc/cpuinfo
  export QEMU_CPU=${MODEL}
  [ "$root" = / ] && exec "$@"
  for folder in dev proc sys; do mount --rbind /$folder "$root/$folder"; done
  exec chroot "$root" "$@"`;

/** A command that runs a program for 64-bit ARM, and the programs that it starts, in a root folder. */
export function emulated(command: readonly string[], root = "/"): string[] {
  mkdirSync(CACHE, { recursive: true });
  const processor = join(CACHE, "arm64-cpuinfo");
  // Others may have the file in use.
  writeFileSync(`${processor}.${process.pid}`, PROCESSOR);
  renameSync(`${processor}.${process.pid}`, processor);
  return [...NAMESPACE, "sh", "-ec", ENTER, "sh", FORMAT, processor, root, ...command];
}

/** A script that stands in for an executable for 64-bit ARM: it runs that one here. */
export function emulatingScript(executable: string, path: string): string {
  const words = emulated([executable]).map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  writeFileSync(path, `#!/bin/sh\nexport QEMU_LD_PREFIX=${SYSTEM}\nexec ${words.join(" ")} "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

/** A root folder for `emulated` with an executable, the C library and an empty /tmp, like a bare system. */
export function bareArm64Root(executable: string): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "ctxd-root-"));
  for (const folder of ["lib", "tmp", "dev", "proc", "sys"]) mkdirSync(join(path, folder));
  for (const name of ["ld-linux-aarch64.so.1", ...LIBRARIES])
    copyFileSync(join(SYSTEM, "lib", name), join(path, "lib", name));
  copyFileSync(executable, join(path, "ctxd"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
