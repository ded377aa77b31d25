import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What happens to the first process that finishes a step. */
export interface Trap {
  step: string;
  signal: "SIGKILL" | "SIGSTOP";
}

const SPRUNG = "sprung-by-";

/** Sets a trap for all processes that read a file, and replaces a former trap. */
export function setTrap(file: string, trap: Trap): void {
  for (const name of readdirSync(dirname(file))) rmSync(join(dirname(file), name));
  writeFileSync(`${file}.new`, JSON.stringify(trap));
  renameSync(`${file}.new`, file);
}

/** The trap that is set and not sprung; null without one. */
export function readTrap(file: string): Trap | null {
  if (!existsSync(file)) return null;
  return unlessTaken(() => JSON.parse(readFileSync(file, "utf8")));
}

/** In a replica: springs the trap if it is set for this step and no other process was first. */
export function enterStep(file: string, step: string): void {
  const trap = readTrap(file);
  if (trap?.step !== step) return;
  unlessTaken(() => {
    renameSync(file, join(dirname(file), `${SPRUNG}${process.pid}`));
    process.kill(process.pid, trap.signal);
  });
}

/** @returns null if another process has sprung the trap meanwhile */
function unlessTaken<T>(act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** The process that sprang the trap; null before one has. */
export function sprungBy(file: string): number | null {
  const found = readdirSync(dirname(file)).find((name) => name.startsWith(SPRUNG));
  return found === undefined ? null : Number(found.slice(SPRUNG.length));
}
