import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";

/** What goes wrong. Of each kind of call one of so many fails; none where it is 0. */
export interface Rules {
  error: "EIO" | "ENOSPC";
  /** `fsync`: what was written before is lost, and a second one that succeeds doesn't bring it. */
  syncs: number;
  /** The next so many of these do not fail. */
  spared: number;
  /** `write` and `ftruncate`. */
  writes: number;
  /** `rename` and `link`. */
  names: number;
  /** By how much the clock is wrong. */
  seconds: number;
}

const RELIABLE: Rules = { error: "EIO", syncs: 0, spared: 0, writes: 0, names: 0, seconds: 0 };

const compiler = Bun.which("cc") ?? Bun.which("gcc");
/** Why there is none here; null when there is one. */
export const missing =
  process.platform !== "linux"
    ? "it takes LD_PRELOAD, which is Linux's"
    : compiler === null
      ? "it takes a C compiler (Debian: apt-get install gcc)"
      : null;

/** The path of the library, compiled once for all tests. */
function compiled(): string {
  const source = join(import.meta.dir, "unreliable.c");
  const hash = Bun.hash(readFileSync(source)).toString(16);
  const library = join(testCacheDir, `unreliable-${hash}.so`);
  if (existsSync(library)) return library;
  mkdirSync(testCacheDir, { recursive: true });
  const unfinished = `${library}-${process.pid}`;
  const command = [compiler ?? "", "-shared", "-fPIC", "-O2", "-o", unfinished, source];
  const { success, stderr } = Bun.spawnSync(command);
  if (!success) throw new Error(String(stderr));
  renameSync(unfinished, library);
  return library;
}

/** Makes a machine whose faults concern the files below a folder, and the processes that it runs. */
export function createUnreliableMachine(folder: string) {
  const lab = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  const library = compiled();
  const [rules, disk] = ["rules", "disk"].map((name) => join(lab, name));
  writeFileSync(rules ?? "", new Uint8Array(40));

  const allFiles = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  /** As the library calls it. */
  const copyOf = (path: string) => {
    const { ino, birthtimeNs } = statSync(path, { bigint: true });
    const nanoseconds = birthtimeNs % 1_000_000_000n;
    return join(disk ?? "", `${ino}-${birthtimeNs / 1_000_000_000n}-${nanoseconds}`);
  };

  return {
    /** The environment of a process that runs on this machine. */
    settings: {
      LD_PRELOAD: library,
      UNRELIABLE_RULES: rules ?? "",
      UNRELIABLE_FOLDER: folder,
      UNRELIABLE_DISK: disk ?? "",
    },

    /** What is not said is as it should be. */
    set(changes: Partial<Rules>): void {
      const { error, syncs, spared, writes, names, seconds } = { ...RELIABLE, ...changes };
      const block = new DataView(new ArrayBuffer(24));
      [constants.errno[error], syncs, writes, names].forEach((value, index) => {
        block.setInt32(index * 4, value, true);
      });
      block.setBigInt64(16, BigInt(seconds), true);
      const file = openSync(rules ?? "", "r+");
      writeSync(file, block, 0, 24, 0);
      writeSync(file, Int32Array.of(spared), 0, 4, 32);
      closeSync(file);
    },

    /** How many calls have failed. */
    failed(): number {
      const count = new BigUint64Array(1);
      const file = openSync(rules ?? "", "r");
      readSync(file, count, 0, 8, 24);
      closeSync(file);
      return Number(count[0]);
    },

    /** Everything that is there now is on the disk. No process may run. */
    settle(): void {
      mkdirSync(disk ?? "", { recursive: true });
      for (const path of allFiles()) copyFileSync(path, copyOf(path));
    },

    /**
     * Leaves what is on the disk. No process may run.
     * @param damage is done to files of which nothing is there but the name
     */
    cutPower(damage: (path: string) => void): void {
      const names = new Set(readdirSync(disk ?? ""));
      for (const path of allFiles()) {
        const copy = copyOf(path);
        if (names.has(copy.slice(copy.lastIndexOf("/") + 1))) copyFileSync(copy, path);
        else damage(path);
      }
    },
  };
}
