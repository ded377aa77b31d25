import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");
const DIST = join(ROOT, "dist");
const EXECUTABLE = join(DIST, "ctxd");

/** What goes into the executable. A folder is as new as the last file that came or went. */
const SOURCES = ["src", "package.json", "bun.lock", "tsconfig.json"];
/** Milliseconds that another process may take to build it: the first time it compresses 300 MB, quickly. */
const PATIENCE = 20 * 60_000;

/** The path of the executable, built where it is older than its sources: once for all who ask. */
export async function buildExecutable(): Promise<string> {
  mkdirSync(DIST, { recursive: true });
  // Test files run in several processes. SQLite's lock goes with the process that holds it.
  using lock = new Database(join(DIST, "build.lock"));
  lock.run(`PRAGMA busy_timeout = ${PATIENCE}`);
  lock.run("BEGIN EXCLUSIVE");
  if (!isUpToDate()) await build();
  return EXECUTABLE;
}

function isUpToDate(): boolean {
  if (!existsSync(EXECUTABLE)) return false;
  const built = statSync(EXECUTABLE).mtimeMs;
  return SOURCES.map((source) => join(ROOT, source))
    .flatMap((path) => [path, ...(statSync(path).isDirectory() ? below(path) : [])])
    .every((path) => statSync(path).mtimeMs < built);
}

function below(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) =>
    join(folder, name),
  );
}

async function build(): Promise<void> {
  const command = [process.execPath, "src/native/build.ts", "--quick"];
  const child = Bun.spawn(command, { cwd: ROOT, stderr: "pipe" });
  const errors = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(errors);
}
