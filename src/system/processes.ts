import { readdirSync, readFileSync } from "node:fs";

/**
 * How a program is started that lives on when this one ends. Windows would open a console window for it;
 * other systems know no such thing.
 */
export const IN_BACKGROUND = { detached: true, windowsHide: true } as const;

/** Whether there is a process with a number, whoever's it is. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** How many files and connections this process has open; not a number where the system does not tell. */
export function countOpenFiles(): number {
  try {
    return process.platform === "linux" ? readdirSync("/proc/self/fd").length : Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/** The process that started another; 0 when that is not known, as on all systems but Linux. */
export function parentOf(pid: number): number {
  // "PID (NAME) STATE PPID …", and the name may hold anything.
  return Number(read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ")[1] ?? 0);
}

/** The command line of a process; empty when it is not known. */
export function titleOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`);
}

function read(path: string): string {
  try {
    return process.platform === "linux" ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}
