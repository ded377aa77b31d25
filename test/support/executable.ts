import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { executableName, targetNamed } from "../../src/native/targets.ts";
import { emulatingScript } from "./arm64.ts";

const ROOT = join(import.meta.dir, "..", "..");
const DIST = join(ROOT, "dist");
/** `CTXD_TEST_TARGET=linux-arm64` has the tests of the executable run the one for 64-bit ARM, emulated. */
const TARGET = process.env.CTXD_TEST_TARGET;

/** Whether the executable is one for another processor: an emulator takes many times as long. */
export const isEmulated = TARGET === "linux-arm64";

/** What goes into the executable. A folder is as new as the last file that came or went. */
const SOURCES = ["src", "package.json", "bun.lock", "tsconfig.json"];
/** Milliseconds that another process may take to build it: the first time it compresses 300 MB, quickly. */
const TIMEOUT_MS = 20 * 60_000;

/** The path of what runs as the executable. */
export async function buildExecutable(): Promise<string> {
  const executable = await buildTarget(TARGET);
  return isEmulated ? emulatingScript(executable, `${executable}-here`) : executable;
}

/**
 * The path of a target's executable, of this machine's without a name, built where it is older than its
 * sources: once for all tests that ask.
 */
export async function buildTarget(target?: string): Promise<string> {
  const executable = join(
    DIST,
    target === undefined ? "ctxd" : executableName(targetNamed(target)),
  );
  mkdirSync(DIST, { recursive: true });
  // Test files run in several processes. SQLite's lock goes with the process that holds it.
  using lock = new Database(join(DIST, "build.lock"));
  lock.run(`PRAGMA busy_timeout = ${TIMEOUT_MS}`);
  lock.run("BEGIN EXCLUSIVE");
  if (!isUpToDate(executable)) await build(target === undefined ? [] : ["--target", target]);
  return executable;
}

function isUpToDate(executable: string): boolean {
  if (!existsSync(executable)) return false;
  const built = statSync(executable).mtimeMs;
  return SOURCES.map((source) => join(ROOT, source))
    .flatMap((path) => [path, ...(statSync(path).isDirectory() ? below(path) : [])])
    .every((path) => statSync(path).mtimeMs < built);
}

function below(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) =>
    join(folder, name),
  );
}

async function build(target: readonly string[]): Promise<void> {
  const command = [process.execPath, "src/build/build.ts", "--quick", ...target];
  const child = Bun.spawn(command, { cwd: ROOT, stderr: "pipe" });
  const errors = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(errors);
}
