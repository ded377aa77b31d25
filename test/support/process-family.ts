import { readdirSync, readFileSync } from "node:fs";

/**
 * Sends a signal to a process and then to its children: a parent that is stopped first makes no new
 * ones.
 * @returns their ids
 */
export function signalFamily(pid: number, signal: NodeJS.Signals): number[] {
  const signalOne = (id: number) => {
    try {
      process.kill(id, signal);
    } catch {
      // It is gone.
    }
  };
  // A dead parent has no children any more, so they are looked for before.
  const before = childrenOf(pid);
  signalOne(pid);
  const children = [...new Set([...before, ...childrenOf(pid)])];
  for (const child of children) signalOne(child);
  return [pid, ...children];
}

/** Whether a process runs; one that nobody has asked about since it ended does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || statOf(pid)[0] !== "Z";
  } catch {
    return false;
  }
}

/** Linux by /proc, other systems by `ps`. */
function childrenOf(pid: number): number[] {
  const pairs = process.platform === "linux" ? byProc() : byPs();
  return pairs.filter(([, parent]) => parent === pid).map(([id]) => id);
}

function byProc(): [number, number][] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [[Number(name), Number(statOf(name)[1])] as [number, number]];
      } catch {
        return [];
      }
    });
}

/** State, parent and what follows of a process. */
function statOf(pid: number | string): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program before them may hold spaces and brackets.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function byPs(): [number, number][] {
  const { stdout } = Bun.spawnSync(["ps", "-A", "-o", "pid=,ppid="]);
  return stdout
    .toString()
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
}
