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

/** In a replica: springs the trap if it is set for this step and no other process was first. */
export function enterStep(file: string, step: string): void {
  if (!existsSync(file)) return;
  try {
    const trap: Trap = JSON.parse(readFileSync(file, "utf8"));
    if (trap.step !== step) return;
    renameSync(file, join(dirname(file), `${SPRUNG}${process.pid}`));
    process.kill(process.pid, trap.signal);
  } catch (error) {
    const wasTaken = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!wasTaken) throw error;
  }
}

/** The process that sprang the trap; null before one has. */
export function sprungBy(file: string): number | null {
  const found = readdirSync(dirname(file)).find((name) => name.startsWith(SPRUNG));
  return found === undefined ? null : Number(found.slice(SPRUNG.length));
}
