import type { Target } from "../native/targets.ts";

/*
 * What the build checks of executables of other systems, which it can't start: the headers of ELF, Mach-O
 * and PE files (64-bit, little endian), the glibc that an ELF file needs, and the signature of a Mach-O file.
 */

/** Processor numbers in ELF (`e_machine`), Mach-O (`cputype`) and PE (`Machine`). */
const ELF_CPUS: Record<number, Target["cpu"]> = { 62: "x64", 183: "arm64" };
const MACH_CPUS: Record<number, Target["cpu"]> = { 16777223: "x64", 16777228: "arm64" };
const PE_CPUS: Record<number, Target["cpu"]> = { 34404: "x64", 43620: "arm64" };

/** File types of executables: ELF's `ET_EXEC` and `ET_DYN`, Mach-O's `MH_EXECUTE`. */
const ELF_EXECUTABLES = [2, 3];
const MACH_EXECUTABLE = 2;
/** PE: the flag of an executable, the magic number of 64-bit files, the subsystem of console programs. */
const PE_EXECUTABLE = 0x0002;
const PE32_PLUS = 0x020b;
const PE_CONSOLE = 3;

/** The system and processor that an executable is for, by its header; null when the file is none. */
export function systemOf(content: Uint8Array): Pick<Target, "os" | "cpu"> | null {
  if (content.byteLength < 64) return null;
  const view = viewOf(content);
  switch (view.getUint32(0)) {
    case 0x7f454c46:
      return system("linux", elfCpu(view));
    case 0xcffaedfe:
      return system("darwin", machCpu(view));
    default:
      return view.getUint16(0) === 0x4d5a ? system("win32", peCpu(view)) : null;
  }
}

type Cpu = Target["cpu"] | undefined;

function system(os: Target["os"], cpu: Cpu) {
  return cpu ? { os, cpu } : null;
}

function elfCpu(view: DataView): Cpu {
  const is64Bit = view.getUint8(4) === 2 && view.getUint8(5) === 1;
  const isExecutable = ELF_EXECUTABLES.includes(view.getUint16(16, true));
  return is64Bit && isExecutable ? ELF_CPUS[view.getUint16(18, true)] : undefined;
}

function machCpu(view: DataView): Cpu {
  const isExecutable = view.getUint32(12, true) === MACH_EXECUTABLE;
  return isExecutable ? MACH_CPUS[view.getUint32(4, true)] : undefined;
}

function peCpu(view: DataView): Cpu {
  const header = view.getUint32(0x3c, true);
  const optional = header + 24;
  if (optional + 70 > view.byteLength || view.getUint32(header) !== 0x50450000) return undefined;
  const isExecutable =
    (view.getUint16(header + 22, true) & PE_EXECUTABLE) !== 0 &&
    view.getUint16(optional, true) === PE32_PLUS &&
    view.getUint16(optional + 68, true) === PE_CONSOLE;
  return isExecutable ? PE_CPUS[view.getUint16(header + 4, true)] : undefined;
}

/** ELF section with the symbol versions that a file needs; see elf.h. */
const SHT_GNU_VERNEED = 0x6ffffffe;

/**
 * The newest glibc version that a 64-bit ELF file needs, such as `2.28`; null when it needs none. The
 * system's loader refuses the file when its glibc is older.
 */
export function neededGlibc(content: Uint8Array): string | null {
  const versions = neededVersions(content)
    .map((name) => /^GLIBC_(\d[\d.]*)$/.exec(name)?.[1])
    .filter((version) => version !== undefined);
  return versions.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1) ?? null;
}

/** The names of all versions in the section, of every library. */
function neededVersions(content: Uint8Array): string[] {
  const view = viewOf(content);
  const section = (number: number) => elfSection(view, number);
  const count = view.getUint16(60, true);
  const found: string[] = [];
  for (let number = 0; number < count; number++) {
    const { type, offset, link, entries } = section(number);
    if (type !== SHT_GNU_VERNEED) continue;
    const names = section(link).offset;
    let library = offset;
    for (let libraries = entries; libraries > 0; libraries--) {
      let version = library + view.getUint32(library + 8, true);
      for (let versions = view.getUint16(library + 2, true); versions > 0; versions--) {
        found.push(textAt(content, names + view.getUint32(version + 8, true)));
        version += view.getUint32(version + 12, true);
      }
      library += view.getUint32(library + 12, true);
    }
  }
  return found;
}

function elfSection(view: DataView, number: number) {
  const at = Number(view.getBigUint64(40, true)) + number * view.getUint16(58, true);
  return {
    type: view.getUint32(at + 4, true),
    offset: Number(view.getBigUint64(at + 24, true)),
    link: view.getUint32(at + 40, true),
    entries: view.getUint32(at + 44, true),
  };
}

function textAt(content: Uint8Array, from: number): string {
  return new TextDecoder().decode(content.subarray(from, content.indexOf(0, from)));
}

/** Load command of the signature; see loader.h of macOS. */
const LC_CODE_SIGNATURE = 0x1d;
/** See cs_blobs.h of macOS. The signature is big endian. */
const SUPER_BLOB = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const AD_HOC = 0x2;
const SHA256 = 2;

/**
 * Whether a Mach-O executable has an ad-hoc signature that matches its content. A Mac with an Apple
 * processor starts no executable without one. The signature does not tell who made the file.
 */
export function hasAdHocSignature(content: Uint8Array): boolean {
  const signature = machSignature(content);
  if (signature === null) return false;
  const view = viewOf(signature);
  if (view.getUint32(0) !== SUPER_BLOB) return false;
  const at = view.getUint32(16);
  if (view.getUint32(at) !== CODE_DIRECTORY || (view.getUint32(at + 12) & AD_HOC) === 0) {
    return false;
  }
  const hashes = at + view.getUint32(at + 16);
  const pages = view.getUint32(at + 28);
  const signed = view.getUint32(at + 32);
  const [size, type] = [view.getUint8(at + 36), view.getUint8(at + 37)];
  const page = 2 ** view.getUint8(at + 39);
  const isWhole = signed === signature.byteOffset - content.byteOffset;
  if (!isWhole || size !== 32 || type !== SHA256 || pages !== Math.ceil(signed / page))
    return false;
  for (let number = 0; number < pages; number++) {
    const from = number * page;
    const hash = sha256(content.subarray(from, Math.min(from + page, signed)));
    const expected = signature.subarray(hashes + number * size, hashes + (number + 1) * size);
    if (!hash.equals(expected)) return false;
  }
  return true;
}

/** The signature of a Mach-O file, found by its load command; null without one. */
function machSignature(content: Uint8Array): Uint8Array | null {
  const view = viewOf(content);
  const commands = view.getUint32(16, true);
  let at = 32;
  for (let number = 0; number < commands; number++) {
    if (view.getUint32(at, true) === LC_CODE_SIGNATURE) {
      const from = view.getUint32(at + 8, true);
      return content.subarray(from, from + view.getUint32(at + 12, true));
    }
    at += view.getUint32(at + 4, true);
  }
  return null;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function sha256(content: Uint8Array): Buffer {
  return new Bun.CryptoHasher("sha256").update(content).digest();
}
