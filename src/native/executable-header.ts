import type { Target } from "./targets.ts";

/** The system and the processor that an executable is for. */
export type ExecutableSystem = Pick<Target, "os" | "cpu">;

/** Of a processor in ELF (`e_machine`), Mach-O (`cputype`) and PE (`Machine`). */
const ELF_CPUS: Record<number, Target["cpu"]> = { 62: "x64", 183: "arm64" };
const MACH_CPUS: Record<number, Target["cpu"]> = { 16777223: "x64", 16777228: "arm64" };
const PE_CPUS: Record<number, Target["cpu"]> = { 34404: "x64", 43620: "arm64" };

/** Kinds of files that a system starts: ELF's `ET_EXEC` and `ET_DYN`, Mach-O's `MH_EXECUTE`. */
const ELF_STARTED = [2, 3];
const MACH_STARTED = 2;
/** PE's flag of executables, its mark of 64-bit ones, and the subsystem of those in a terminal. */
const PE_EXECUTABLE = 0x0002;
const PE32_PLUS = 0x020b;
const PE_CONSOLE = 3;

/** What a file is an executable for, by its header; null when it is none. 64-bit, little endian. */
export function systemOf(content: Uint8Array): ExecutableSystem | null {
  if (content.byteLength < 64) return null;
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  switch (view.getUint32(0)) {
    case 0x7f454c46:
      return system("linux", ELF_STARTED.includes(view.getUint16(16, true)) && elfCpu(view));
    case 0xcffaedfe:
      return system(
        "darwin",
        view.getUint32(12, true) === MACH_STARTED && MACH_CPUS[view.getUint32(4, true)],
      );
    default:
      return view.getUint16(0) === 0x4d5a ? system("win32", peCpu(view)) : null;
  }
}

function system(os: Target["os"], cpu: Target["cpu"] | false | undefined): ExecutableSystem | null {
  return cpu ? { os, cpu } : null;
}

function elfCpu(view: DataView): Target["cpu"] | false | undefined {
  const is64Bit = view.getUint8(4) === 2 && view.getUint8(5) === 1;
  return is64Bit && ELF_CPUS[view.getUint16(18, true)];
}

function peCpu(view: DataView): Target["cpu"] | false | undefined {
  const header = view.getUint32(0x3c, true);
  const optional = header + 24;
  if (optional + 70 > view.byteLength || view.getUint32(header) !== 0x50450000) return false;
  const isStarted =
    (view.getUint16(header + 22, true) & PE_EXECUTABLE) !== 0 &&
    view.getUint16(optional, true) === PE32_PLUS &&
    view.getUint16(optional + 68, true) === PE_CONSOLE;
  return isStarted && PE_CPUS[view.getUint16(header + 4, true)];
}
