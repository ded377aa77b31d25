import { existsSync } from "node:fs";
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");
const CACHE = join(ROOT, "node_modules", ".cache", "ctxd-test");

/**
 * Programs that are installed together, from one lock file: those of every run, those of the long run, and OpenClaw,
 * which needs a newer Node.js.
 */
export type Programs = "every-run" | "long-run" | "openclaw";

/** Installs programs of the npm registry, once for each state of their lock file. Returns their `node_modules`. */
export async function install(programs: Programs): Promise<string> {
  const source = join(import.meta.dir, "programs", programs);
  const lock = await Bun.file(join(source, "bun.lock")).bytes();
  const folder = join(CACHE, `agents-${programs}-${Bun.hash(lock).toString(36)}`);
  if (!existsSync(folder)) await installInto(folder, source);
  return join(folder, "node_modules");
}

async function installInto(folder: string, source: string): Promise<void> {
  // Several processes may do this at once, and each must see whole folders only.
  const unfinished = `${folder}-${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  await cp(source, unfinished, { recursive: true });
  const command = ["install", "--frozen-lockfile", "--ignore-scripts", "--no-summary"];
  const child = Bun.spawn([process.execPath, ...command], {
    ...{ cwd: unfinished, stdout: "ignore", stderr: "pipe" },
  });
  const errors = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(`the agents are not installed: ${errors}`);
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
}

/** The version of each package that is installed. */
export async function pinnedVersions(programs: Programs): Promise<Record<string, string>> {
  const manifest = Bun.file(join(import.meta.dir, "programs", programs, "package.json"));
  return (await manifest.json()).dependencies;
}
